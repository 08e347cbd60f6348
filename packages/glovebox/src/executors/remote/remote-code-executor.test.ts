import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { gate } from "../../core/gate.test-kit.ts"
import { z } from "zod"
import {
  type AccessGuard,
  type AccessRequest,
  ClosureAgent,
  GloveboxError,
  SingleThreadedAgentRuntime,
  agentId,
  defineMessage,
  silentLogger,
} from "../../core/index.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import { blockResult } from "../code-result.test-kit.ts"
import type { ExecutionEvent } from "../execution-event.ts"
import { serve } from "./raw-client.test-kit.ts"
import { RemoteCodeExecutor } from "./remote-code-executor.ts"
import {
  BLOCK,
  SANDBOX,
  ScriptedExecutor,
  type Script,
  artifact,
  endless,
  failing,
  finished,
  output,
  saying,
} from "./remote.test-kit.ts"

async function eventsOf(events: AsyncIterable<ExecutionEvent>): Promise<ExecutionEvent[]> {
  const list: ExecutionEvent[] = []
  for await (const event of events) list.push(event)
  return list
}

describe("what a remote executor tells of itself", () => {
  it("is nothing before the far end has spoken, and then what that says", async () => {
    const far = new ScriptedExecutor()
    const { client } = await serve(far)
    const executor = client()
    expect([executor.kind, executor.policy, executor.runsOnHost]).toEqual(["remote", undefined, false])
    await executor.start()
    expect([executor.kind, executor.policy?.sha256]).toEqual(["docker", far.policy.sha256])
    expect([far.starts, executor.describeFunctions()]).toEqual([1, far.describeFunctions()])
  })

  it("has a random key, which is its own", async () => {
    const { runtime } = await serve(new ScriptedExecutor())
    const keys = [1, 2].map(() => new RemoteCodeExecutor({ runtime }).key)
    expect(new Set(keys).size).toBe(2)
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
  })

  it("refuses options that mean nothing", async () => {
    const { runtime } = await serve(new ScriptedExecutor())
    expect(() => new RemoteCodeExecutor({ runtime, agentType: "no/type" })).toThrow(/Agent type/)
    expect(() => new RemoteCodeExecutor({ runtime, key: "" })).toThrow(/key/)
    expect(() => new RemoteCodeExecutor({ runtime: {} as never })).toThrow(/AgentRuntime/)
  })
})

describe("what comes back", () => {
  const file = artifact("out/a.bin", new Uint8Array([0, 255, 10]))
  const png = { display: 1, type: "png", mime: "image/png", data: new Uint8Array([1, 2]) } as const
  const json = { display: 2, type: "json", mime: "application/json", data: { blob: 0 } } as const
  const connection = {
    id: 1,
    via: "http",
    host: "example.com",
    port: 80,
    verdict: "denied",
    denial: {
      code: "NOT_ALLOWED",
      rule: undefined,
      resource: "example.com:80",
      message: "no",
      suggestion: "ask",
    },
    bytesUp: 0,
    bytesDown: 1,
    durationMs: 2,
  } as const
  const block = blockResult({ exitCode: 0, outputs: [png, json] })
  const events: readonly ExecutionEvent[] = [
    { type: "started", blocks: 1 },
    { type: "block-started", block: 0, language: "python", codeFile: "a.py" },
    output("grüße\n"),
    { type: "stderr", block: 0, text: "", bytes: new Uint8Array([0xe6]) },
    { type: "stderr", block: 0, text: "漢", bytes: new Uint8Array([0xbc, 0xa2]) },
    { type: "display", block: 0, action: "show", outputs: [json, png] },
    { type: "egress", state: "denied", connection },
    { type: "block-finished", block: 0, result: block },
    { type: "artifact", artifact: file },
    finished({ blocks: [block], artifacts: [file], outputs: [png], egress: [connection], stateLost: false }),
  ]
  const all: Script = async function* all() {
    yield* events
  }

  it("are all events as they were, in their order", async () => {
    const { client } = await serve(new ScriptedExecutor(all))
    expect(await eventsOf(client().stream([BLOCK]))).toEqual(events)
  })

  it("is the result with its files, and the output while it comes", async () => {
    const { client } = await serve(new ScriptedExecutor(all))
    const texts: string[] = []
    const expected = events.at(-1)
    const result = await client().executeCodeBlocks([BLOCK], { onOutput: ({ text }) => texts.push(text) })
    expect({ type: "finished", result }).toEqual(expected)
    expect(texts).toEqual(["grüße\n", "", "漢"])
    expect({ type: "finished", result: await client().executeCodeBlocks([BLOCK]) }).toEqual(expected)
  })

  it("never is in a message of more than 1 MiB, whatever it is", async () => {
    const big = artifact("big.bin", new Uint8Array(1_200_000).fill(7))
    const text = "\0".repeat(200_000)
    const far = new ScriptedExecutor(saying(text, { artifacts: [big] }))
    const { client, runtime } = await serve(far)
    const code = "\u0001".repeat(200_000)
    const { artifacts, stdout } = await client().executeCodeBlocks([{ ...BLOCK, code }], {
      onOutput: () => {},
    })
    expect(far.ran[0]?.[0]?.code === code && stdout === text).toBe(true)
    expect(Buffer.from(artifacts[0]!.content).equals(big.content)).toBe(true)
    expect(Math.max(...runtime.wire.map(({ length }) => length))).toBeLessThan(1024 ** 2)
  })

  it("is made no faster than it is read", async () => {
    let made = 0
    const flood: Script = async function* flood() {
      for (; made < 80; made += 1) yield output("x".repeat(100_000))
      yield finished()
    }
    const { client } = await serve(new ScriptedExecutor(flood))
    let length = 0
    for await (const event of client().stream([BLOCK])) {
      if (event.type !== "stdout") continue
      length += event.text.length
      // Two chunks' worth may wait there, and two may be on their way.
      expect(made * 100_000 - length).toBeLessThan(3 * 1024 ** 2)
    }
    expect(length).toBe(8_000_000)
  })
})

describe("files for the far end", () => {
  it("arrive whole", async () => {
    const far = new ScriptedExecutor()
    const { client } = await serve(far)
    const content = new Uint8Array(600_000).fill(3)
    await client().putFiles([
      { path: "data/./in.bin", content },
      { path: "go", content: Buffer.from("x"), executable: true },
    ])
    expect(far.files.map(({ path, executable }) => [path, executable])).toEqual([
      ["data/in.bin", false],
      ["go", true],
    ])
    expect(Buffer.from(far.files[0]!.content).equals(content)).toBe(true)
  })

  it("have names below the workspace", async () => {
    const { client, runtime } = await serve(new ScriptedExecutor())
    for (const path of ["../up", "/etc/passwd", "a/../../b"]) {
      await expectFailure(client().putFiles([{ path, content: Buffer.from("") }]), "CODE_FILE_REFUSED")
    }
    expect(runtime.wire).toEqual([])
  })

  it("are refused by an executor that keeps none", async () => {
    const { client } = await serve(Object.assign(new ScriptedExecutor(), { putFiles: undefined }))
    await expectFailure(
      client().putFiles([{ path: "a", content: Buffer.from("") }]),
      "WORKSPACE_FAILED",
      /keeps none/,
    )
  })
})

describe("a run that is no longer wanted", () => {
  it("ends at the far end before the call rejects, and prints no more", async () => {
    const far = new ScriptedExecutor(endless)
    const { client, service } = await serve(far)
    const controller = new AbortController()
    const reason = new Error("enough")
    const texts: string[] = []
    const call = client().executeCodeBlocks([BLOCK], {
      signal: controller.signal,
      onOutput: ({ text }) => {
        texts.push(text)
        controller.abort(reason)
      },
    })
    await expect(call).rejects.toBe(reason)
    expect([far.running, service.status.runs, texts]).toEqual([0, 0, ["begun\n"]])
  })

  it("ends when the loop over its events is left", async () => {
    const far = new ScriptedExecutor(endless)
    const { client, service } = await serve(far)
    for await (const event of client().stream([BLOCK])) if (event.type === "stdout") break
    expect([far.running, service.status.runs]).toEqual([0, 0])
  })

  it("ends there when its client is not heard of", async () => {
    const far = new ScriptedExecutor(endless)
    const { client, service } = await serve(far, { leaseMs: 20 })
    const events = client().stream([BLOCK])
    await events.next()
    await expect.poll(() => [far.running, service.status.runs]).toEqual([0, 0])
    await expectFailure(events.next(), "SANDBOX_LOST", /nobody read/)
  })
})

describe("failures", () => {
  it("of the code that was sent arrive as they are", async () => {
    const error = new GloveboxError("LANGUAGE_UNKNOWN", "Nobody knows klingon.")
    const { client } = await serve(new ScriptedExecutor(failing(error)))
    await expectFailure(client().executeCodeBlocks([BLOCK]), "LANGUAGE_UNKNOWN", /^Nobody knows klingon\.$/)
  })

  it("of the machine are told by their code, and nothing of it is on the wire", async () => {
    const logged: unknown[] = []
    const logger = { ...silentLogger, error: (_: string, fields?: object) => logged.push(fields) }
    const path = "/var/run/docker.sock"
    for (const [error, code] of [
      [new GloveboxError("ENGINE_UNAVAILABLE", `connect ENOENT ${path}`), "ENGINE_UNAVAILABLE"],
      [new Error(`EACCES ${path}`), "AGENT_FAILED"],
    ] as const) {
      const { client, runtime } = await serve(new ScriptedExecutor(failing(error)), { logger })
      await expectFailure(client().executeCodeBlocks([BLOCK]), code, /operator/)
      expect(Buffer.concat(runtime.wire).toString()).not.toContain("docker.sock")
      expect(logged.pop()).toMatchObject({ error })
    }
  })

  it("come after the output that came before", async () => {
    const { client } = await serve(
      new ScriptedExecutor(async function* script() {
        yield output("last words")
        throw new GloveboxError("SANDBOX_LOST", "It is gone.")
      }),
    )
    const texts: string[] = []
    const call = client().executeCodeBlocks([BLOCK], { onOutput: ({ text }) => texts.push(text) })
    await expectFailure(call, "SANDBOX_LOST")
    expect(texts).toEqual(["last words"])
  })

  it("of the runtime end the run, which is not repeated", async () => {
    const far = new ScriptedExecutor(endless)
    const { client, runtime } = await serve(far)
    const begun = gate()
    const call = client().executeCodeBlocks([BLOCK], { onOutput: () => begun.open() })
    await begun.promise
    await Promise.all([expectFailure(call, "RUNTIME_STOPPED"), runtime.inner.close()])
    expect([far.ran.length, far.running]).toEqual([1, 0])
  })

  it("of a type that nobody serves are told at once", async () => {
    const { client } = await serve(new ScriptedExecutor())
    await expectFailure(client({ agentType: "other" }).start(), "AGENT_TYPE_UNKNOWN")
  })
})

describe("stopping", () => {
  it("refuses calls until it is started again, at both ends", async () => {
    const far = new ScriptedExecutor()
    const { client } = await serve(far)
    const executor = client()
    await executor.executeCodeBlocks([BLOCK])
    await executor.stop()
    expect(far.stops).toBe(1)
    await expectFailure(executor.executeCodeBlocks([BLOCK]), "EXECUTOR_STOPPED")
    await executor.start()
    await executor.executeCodeBlocks([BLOCK])
    await executor.restart()
    expect([far.ran.length, far.restarts]).toEqual([2, 1])
  })

  it("works when the far end is gone already", async () => {
    const { client, runtime } = await serve(new ScriptedExecutor())
    const executor = client()
    await executor.start()
    await runtime.inner.close()
    await executor.stop()
    await expectFailure(executor.executeCodeBlocks([BLOCK]), "EXECUTOR_STOPPED")
  })
})

describe("files of earlier calls", () => {
  it("that are gone with their executor are told as lost, once", async () => {
    const made: ScriptedExecutor[] = []
    const { client, service } = await serve(
      () => {
        made.push(new ScriptedExecutor(saying("x")))
        return made.at(-1)!
      },
      { idleMs: 20 },
    )
    const executor = client()
    const { stateLost } = await executor.executeCodeBlocks([BLOCK])
    expect(stateLost).toBeUndefined()
    await expect.poll(() => service.status.keys).toBe(0)
    expect(made[0]?.stops).toBe(1)
    const next = await executor.executeCodeBlocks([BLOCK])
    expect(next).toMatchObject({
      stateLost: true,
      sandbox: SANDBOX,
      stateLostBecause: expect.stringMatching(/idle for too long/),
    })
    // One may have been idle for too long before it was asked for anything.
    expect(made.flatMap(({ ran }) => ran)).toHaveLength(2)
  })
})

describe("an executor that has taken another's place", () => {
  it("runs nothing when its code may reach more, until the caller has seen that", async () => {
    const made: ScriptedExecutor[] = []
    const { client, service } = await serve(
      () => {
        const network = made.length === 0 ? undefined : { allow: ["example.com:443"] }
        const policy = new SandboxPolicy(network ? { network } : {})
        made.push(Object.assign(new ScriptedExecutor(), { policy }))
        return made.at(-1)!
      },
      { idleMs: 20 },
    )
    const executor = client()
    await executor.start()
    await expect.poll(() => service.status.keys).toBe(0)
    await expectFailure(executor.executeCodeBlocks([BLOCK]), "SANDBOX_NOT_AS_PROMISED", /reach more/)
    expect(made.flatMap(({ ran }) => ran)).toEqual([])
    expect(executor.policy?.sha256).toBe(made[1]?.policy.sha256)
    await executor.executeCodeBlocks([BLOCK])
  })
})

describe("an agent", () => {
  it("runs code there only where its runtime's guard lets it use such an executor", async () => {
    const far = new ScriptedExecutor()
    const { client } = await serve(far)
    const asked: AccessRequest[] = []
    const guard: AccessGuard = {
      allows: () => false,
      authorize: async (request) => {
        asked.push(request)
        throw new GloveboxError("ACCESS_DENIED", "No.")
      },
    }
    await using runtime = new SingleThreadedAgentRuntime({ access: guard })
    const Go = defineMessage("Go", z.object({}))
    await runtime.register("coder", () => {
      return new ClosureAgent([Go], async () => {
        await client().executeCodeBlocks([BLOCK])
      })
    })
    runtime.start()
    await expectFailure(runtime.send(Go({}), agentId("coder")), "ACCESS_DENIED")
    expect(asked).toMatchObject([{ agent: "coder", kind: "executor", name: "docker", policy: far.policy }])
    expect(far.ran).toEqual([])
  })
})
