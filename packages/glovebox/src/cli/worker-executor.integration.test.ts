import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { expectFailure } from "../core/expect-failure.test-kit.ts"
import { type Listed, containersWith } from "../executors/docker/docker-command.test-kit.ts"
import { HAS_NO_DOCKER } from "../executors/docker/docker-subject.test-kit.ts"
import { RemoteCodeExecutor } from "../executors/remote/index.ts"
import { GrpcWorkerAgentRuntime } from "../runtimes/grpc/index.ts"
import { begin, succeed } from "../testing/expectations.ts"
import { python } from "../testing/programs.ts"
import { ServedCommand, startHost } from "./distributed/served-command.test-kit.ts"
import { IMAGE, buildCommand } from "./glovebox.test-kit.ts"

const FIRST = "unix:///var/run/docker.sock"

describe.skipIf(HAS_NO_DOCKER)("glovebox worker --executor, with Docker", () => {
  let folder = ""
  let host: ServedCommand
  let worker: ServedCommand
  let client: GrpcWorkerAgentRuntime

  beforeAll(async () => {
    await buildCommand()
    folder = await mkdtemp(join(tmpdir(), "gb-worker-executor-"))
    // No other test has this policy, by which its containers are found.
    const env = { TEST_PROCESS: String(process.pid) }
    const policy = { image: IMAGE, runtime: "runc", limits: { memory: "96MiB", wall: "30s" }, env }
    await writeFile(join(folder, "policy.json"), JSON.stringify(policy))
    const { host: begun, address } = await startHost()
    host = begun
    const sandbox = ["--sandbox", "docker", "--docker-host", FIRST, "--policy", "policy.json"]
    worker = new ServedCommand(["worker", "--host", address, "--executor", "--max-runs", "2", ...sandbox], {
      cwd: folder,
    })
    await worker.said("connected")
    client = new GrpcWorkerAgentRuntime({ hostAddress: address })
    await client.start()
  })
  afterAll(async () => {
    await client.close()
    await worker[Symbol.asyncDispose]()
    await host[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  it("runs code of another process: output as it comes, files both ways, an abort that ends it", async () => {
    await using executor = new RemoteCodeExecutor({ runtime: client })
    await executor.putFiles([{ path: "in.txt", content: Buffer.from("from afar") }])
    const texts: string[] = []
    const code = `import time\nfor n in range(3):\n    print(n, flush=True)\n    time.sleep(0.1)\nopen("out.txt", "w").write(open("in.txt").read().upper())`
    const { sandbox, artifacts } = await executor.executeCodeBlocks([python(code)], {
      onOutput: ({ text }) => texts.push(text),
    })
    expect(texts.join("")).toBe("0\n1\n2\n")
    expect(artifacts.map(({ path, content }) => [path, Buffer.from(content).toString()])).toEqual([
      ["out.txt", "FROM AFAR"],
    ])
    expect(sandbox).toMatchObject({ kind: "docker", effective: { memory: 96 * 1024 ** 2 } })
    const controller = new AbortController()
    const { result, spoke } = begin(executor, [python(`print("on", flush=True)\nwhile True: pass`)], {
      signal: controller.signal,
    })
    const rejected = result.catch((error: unknown) => error)
    await spoke
    controller.abort(new Error("enough"))
    expect(await rejected).toMatchObject({ message: "enough" })
    expect((await succeed(executor, python(`print("fine")`))).stdout).toBe("fine\n")
  })

  it("keeps its operator's policy, and tells nobody where its engine is", async () => {
    await using executor = new RemoteCodeExecutor({ runtime: client })
    await executor.start()
    expect(executor.policy?.fields).toMatchObject({ network: "none", limits: { memory: 96 * 1024 ** 2 } })
    const told = JSON.stringify([executor.policy, executor.beyondPolicy, executor.describeFunctions()])
    const look = `import os, socket\nprint([path for path in ("/var/run/docker.sock", "/run/docker.sock") if os.path.exists(path)])\ntry:\n    socket.create_connection(("127.0.0.1", 2375), 1)\nexcept OSError as error:\n    print("refused")`
    const result = await succeed(executor, python(look))
    expect(result.stdout).toBe("[]\nrefused\n")
    expect(told + JSON.stringify(result)).not.toContain("docker.sock")
    const other = new RemoteCodeExecutor({ runtime: client, agentType: "shell" })
    await expectFailure(other.start(), "AGENT_TYPE_UNKNOWN")
  })

  it("gives each client files of its own", async () => {
    await using one = new RemoteCodeExecutor({ runtime: client })
    await using other = new RemoteCodeExecutor({ runtime: client })
    await succeed(one, python(`open("mine", "w").write("secret")`))
    const { stdout } = await succeed(other, python(`import os\nprint(os.path.exists("mine"))`))
    expect(stdout).toBe("False\n")
  })

  it("lets what runs end when it is told to, writes all of it down, and leaves no container", async () => {
    await using executor = new RemoteCodeExecutor({ runtime: client })
    const code = `import time\nprint("begun", flush=True)\ntime.sleep(1)\nprint("ended")`
    const { result, spoke } = begin(executor, [python(code)])
    await spoke
    const containers = async (): Promise<Listed[]> =>
      containersWith(`label=org.glovebox.policy=${executor.policy?.sha256}`)
    expect(await containers()).not.toEqual([])
    worker.kill("SIGTERM")
    await worker.said("draining")
    await expectFailure(new RemoteCodeExecutor({ runtime: client }).start(), "TRY_LATER", /about to stop/)
    expect((await result).stdout).toBe("begun\nended\n")
    expect(await worker.ended()).toBe(0)
    expect(await containers()).toEqual([])
    const [log = ""] = (await readdir(join(folder, ".glovebox"))).filter((name) => name.endsWith(".jsonl"))
    expect(await readFile(join(folder, ".glovebox", log), "utf8")).toContain("remote")
  })
})
