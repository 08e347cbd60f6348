import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { expectFailure } from "../core/expect-failure.test-kit.ts"
import { agentId } from "../core/index.ts"
import { GrpcWorkerAgentRuntime } from "../runtimes/grpc/index.ts"
import { AgentsFolder, Done, Work } from "./distributed/agents-folder.test-kit.ts"
import { ServedCommand, startHost } from "./distributed/served-command.test-kit.ts"
import { buildCommand, glovebox } from "./glovebox.test-kit.ts"

let folder: AgentsFolder
let host: ServedCommand
let address: string
let health: string

beforeAll(async () => {
  await buildCommand()
  folder = await AgentsFolder.make()
  ;({ host, address, health } = await startHost("--grace", "1s"))
})
afterAll(async () => {
  await host[Symbol.asyncDispose]()
  await folder[Symbol.asyncDispose]()
})

async function startWorker(...args: string[]): Promise<ServedCommand> {
  const worker = new ServedCommand(["worker", "agents.mjs", "--host", address, ...args], { cwd: folder.path })
  await worker.said("connected")
  return worker
}

async function connect(): Promise<GrpcWorkerAgentRuntime> {
  const runtime = new GrpcWorkerAgentRuntime({ hostAddress: address })
  runtime.addMessageType(Work)
  runtime.addMessageType(Done)
  await runtime.start()
  return runtime
}

const send = async (runtime: GrpcWorkerAgentRuntime, key: string): Promise<{ readonly by: string }> =>
  runtime.send(Work({ until: folder.file(key) }), agentId("slow", key), { expect: Done })

const read = async (url: string): Promise<string> => (await fetch(url)).text()

describe("glovebox worker", () => {
  it("ends what it has begun when it is told to end, and exits with 0", async () => {
    await using runtime = await connect()
    await using worker = await startWorker("--health", "0")
    const { health: at } = await worker.said("connected")
    expect(await read(`${String(at)}/readyz`)).toBe("ok\n")
    const reply = send(runtime, "drained")
    await worker.printed("begun")
    expect(await read(`${health}/metrics`)).toContain('glovebox_host_workers{state="open"} 2\n')
    worker.kill("SIGTERM")
    await worker.said("draining")
    expect(await read(`${String(at)}/readyz`)).toBe("draining\n")
    expect(await read(`${String(at)}/metrics`)).toContain("glovebox_worker_requests_total 1\n")
    await worker.printed("asked to drain")
    expect(worker.stderr).not.toContain("put away")
    await folder.write("drained", "")
    expect((await reply).by).toMatch(/^\d+$/)
    await worker.said("stopped")
    expect(await worker.ended()).toBe(0)
    expect(worker.stderr).toContain("put away")
  })

  it("is left at once by a second signal, and the caller is told", async () => {
    await using runtime = await connect()
    await using worker = await startWorker()
    const reply = send(runtime, "never-1")
    const failed = expectFailure(reply, "WORKER_LOST")
    await worker.printed("begun")
    worker.kill("SIGTERM")
    await worker.said("draining")
    worker.kill("SIGTERM")
    expect(await worker.ended()).toBe(143)
    await failed
  })

  it("waits for what runs as long as it is told to, and then exits with 1", async () => {
    await using runtime = await connect()
    await using worker = await startWorker("--drain-timeout", "200ms")
    const failed = expectFailure(send(runtime, "never-2"), "WORKER_LOST")
    await worker.printed("begun")
    worker.kill("SIGINT")
    await worker.said("drain-timeout")
    expect(await worker.ended()).toBe(1)
    await failed
  })

  it("ends at once while it waits for a host", async () => {
    await folder.write("loud.mjs", "export const register = () => console.error('registered')")
    const args = ["worker", "loud.mjs", "--host", "127.0.0.1:1", "--connect-timeout", "1m"]
    await using worker = new ServedCommand(args, { cwd: folder.path })
    await worker.printed("registered")
    worker.kill("SIGTERM")
    await worker.said("stopped")
    expect(await worker.ended()).toBe(0)
  })

  it("gives work to the others while one of them ends", async () => {
    await using runtime = await connect()
    await using first = await startWorker()
    const before = send(runtime, "before")
    await first.printed("begun")
    await using second = await startWorker()
    first.kill("SIGTERM")
    await first.said("draining")
    const after = send(runtime, "after")
    await second.printed("begun")
    await Promise.all([folder.write("before", ""), folder.write("after", "")])
    expect((await before).by).not.toBe((await after).by)
    expect(await first.ended()).toBe(0)
    second.kill("SIGTERM")
    expect(await second.ended()).toBe(0)
  })
})

describe("the agents of examples/distributed", () => {
  const cwd = fileURLToPath(new URL("../../../../examples/distributed", import.meta.url))
  const node = async (file: string): Promise<string> => {
    const env = { ...process.env, HOST_ADDRESS: address }
    return (await promisify(execFile)(process.execPath, [file], { cwd, env })).stdout
  }

  it("run in one process", async () => {
    expect(await node("one-process.mjs")).toBe("12 pages, counted in 1 process(es)\nthe tally has 78 words\n")
  })

  it("run unchanged on three workers, again and again", async () => {
    const start = (): ServedCommand => new ServedCommand(["worker", "agents.mjs", "--host", address], { cwd })
    await using first = start()
    await using second = start()
    await using third = start()
    await Promise.all([first, second, third].map(async (worker) => worker.said("connected")))
    for (let round = 0; round < 2; round++) {
      expect(await node("client.mjs")).toBe("12 pages, counted in 3 process(es)\nthe tally has 78 words\n")
    }
  })
})

describe("what is wrong is told in one line", () => {
  it.each<[string, readonly string[], number, RegExp]>([
    ["nothing to do", [], 2, /Name a module with agents, or say --executor/],
    ["no such module", ["./absent.mjs"], 1, /\.\/absent\.mjs does not exist/],
    ["a module without register", ["package.mjs"], 1, /exports no function "register"/],
    [
      "a host that does not answer",
      ["agents.mjs", "--host", "127.0.0.1:1", "--connect-timeout", "300ms"],
      1,
      /127\.0\.0\.1:1 cannot be used: connect ECONNREFUSED 127\.0\.0\.1:1$/m,
    ],
    ["a host elsewhere, in the clear", ["agents.mjs", "--host", "example.com:50051"], 2, /--tls or --tls-ca/],
    ["a token that is none", ["agents.mjs", "--token-file", "package.mjs"], 1, /is no bearer token/],
    [
      "a sandbox without an executor",
      ["agents.mjs", "--image", "x"],
      2,
      /--image is for a worker with --executor/,
    ],
    ["a bound without an executor", ["agents.mjs", "--max-runs", "2"], 2, /--max-runs is for a worker with/],
    ["no log without an executor", ["agents.mjs", "--no-audit"], 2, /--no-audit is for a worker with/],
    ["one folder for all", ["--executor", "--work-dir", "."], 2, /--work-dir is not for --executor/],
  ])("%s", async (_name, args, code, message) => {
    await folder.write("package.mjs", "export const nothing = 1")
    const ended = await glovebox(["worker", ...args], "", {}, folder.path)
    expect(ended.stderr).toMatch(message)
    expect(ended.stderr.trim().split("\n")).toHaveLength(1)
    expect(ended.code).toBe(code)
  })
})
