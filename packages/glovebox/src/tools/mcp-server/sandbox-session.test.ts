import { once } from "node:events"
import { existsSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { SandboxPolicy } from "../../policy/index.ts"
import {
  SandboxSession,
  type SandboxSessionOptions,
  type SessionExecutor,
  type SessionInfo,
} from "./sandbox-session.ts"

interface Opening {
  readonly workDir: string
  readonly finish: () => void
  readonly fail: (error: Error) => void
}

/** A session whose executors come when the test says so. */
function sessionOf(options: Partial<SandboxSessionOptions> = {}): {
  session: SandboxSession
  openings: Opening[]
  stopped: string[]
} {
  const openings: Opening[] = []
  const stopped: string[] = []
  const openExecutor: SandboxSessionOptions["openExecutor"] = ({ workDir }) =>
    new Promise<SessionExecutor>((resolve, reject) => {
      const stop = async (): Promise<void> => void stopped.push(workDir)
      const executor = { policy: new SandboxPolicy(), stop } as SessionExecutor
      openings.push({ workDir, finish: () => resolve(executor), fail: reject })
    })
  return { session: new SandboxSession({ openExecutor, ...options }), openings, stopped }
}

const never = new AbortController().signal

function list(session: SandboxSession, signal = never): Promise<unknown> {
  return session.withFiles(signal, (files) => files.list())
}

describe("SandboxSession", () => {
  it("lets a call be cancelled while the sandbox is made, which the next call then has", async () => {
    const { session, openings } = sessionOf()
    const controller = new AbortController()
    const cancelled = list(session, controller.signal)
    await expect.poll(() => openings.length).toBe(1)
    controller.abort(new Error("enough"))
    await expect(cancelled).rejects.toThrow("enough")
    const next = list(session)
    openings[0]?.finish()
    await next
    expect(openings).toHaveLength(1)
    await session[Symbol.asyncDispose]()
  })

  it("makes another sandbox when one could not be made, and leaves no folder of it", async () => {
    const { session, openings } = sessionOf()
    const calls = [list(session), list(session)]
    await expect.poll(() => openings.length).toBe(1)
    openings[0]?.fail(new Error("no engine"))
    for (const call of calls) await expect(call).rejects.toThrow("no engine")
    expect(existsSync(openings[0]?.workDir ?? "")).toBe(false)
    const again = list(session)
    await expect.poll(() => openings.length).toBe(2)
    openings[1]?.finish()
    await again
    await session[Symbol.asyncDispose]()
  })

  it("ends a sandbox that is still being made, and is ended only once", async () => {
    const { session, openings, stopped } = sessionOf()
    const call = list(session)
    await expect.poll(() => openings.length).toBe(1)
    const ends = [session[Symbol.asyncDispose](), session[Symbol.asyncDispose]()]
    openings[0]?.finish()
    await Promise.allSettled([call, ...ends])
    expect(stopped).toHaveLength(1)
    expect(existsSync(stopped[0] ?? "")).toBe(false)
    await expectFailure(list(session), "EXECUTOR_STOPPED")
    expect(openings).toHaveLength(1)
  })

  it("does not end while a call is on, however long that takes", async () => {
    const { session, openings, stopped } = sessionOf({ idleMs: 1 })
    const call = session.withFiles(never, async () => {
      await new Promise((resolve) => setTimeout(resolve, 30))
      return [...stopped]
    })
    await expect.poll(() => openings.length).toBe(1)
    openings[0]?.finish()
    expect(await call).toEqual([])
    await expect.poll(() => stopped).toHaveLength(1)
    expect(session.takeNotice()).toContain("No call came for 1ms")
    await session[Symbol.asyncDispose]()
  })

  it("tells of its end when no call is on any more, once, and takes no more", async () => {
    const order: string[] = []
    const onEnd = async ({ caller }: SessionInfo): Promise<void> => void order.push(`end of ${caller}`)
    const { session } = sessionOf({ onEnd })
    const call = (): Promise<unknown> =>
      session.call({ tool: "t", arguments: {}, signal: never, caller: "ann" }, async (signal) => {
        await once(signal, "abort")
        await new Promise((resolve) => setImmediate(resolve))
        order.push("end of the call")
        return { content: [] }
      })
    const called = call()
    await session[Symbol.asyncDispose]()
    await session[Symbol.asyncDispose]()
    await called
    expect(order).toEqual(["end of the call", "end of ann"])
    await expectFailure(call(), "EXECUTOR_STOPPED")
  })
})
