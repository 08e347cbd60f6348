import { describe, expect, it } from "vitest"
import { FakeExecutor } from "../../chat/agents/code-executor/fake-executor.test-kit.ts"
import type { SandboxEvent } from "../../executors/index.ts"
import { TypedEmitter } from "../../internal/typed-emitter.ts"
import { Governance } from "../governance.ts"
import { MemorySink } from "./telling-executor.test-kit.ts"

/** An executor that tells of its sandboxes. */
class Boxes extends FakeExecutor {
  readonly kind = "docker"
  readonly #events = new TypedEmitter<{ readonly type: "box"; readonly box: SandboxEvent }>(() => {})

  onSandbox(listener: (event: SandboxEvent) => void): Disposable {
    return this.#events.on("box", ({ box }) => listener(box))
  }

  tell(event: SandboxEvent["event"], containerId: string, more: Partial<SandboxEvent> = {}): void {
    this.#events.emit({ type: "box", box: { event, containerId, ...more } })
  }
}

describe("the sandboxes that a governance watches", () => {
  it("are written down when they begin and end", async () => {
    const sink = new MemorySink()
    await using governance = new Governance({ audit: sink, run: "r" })
    const boxes = new Boxes()
    using _watch = governance.watchSandboxes(boxes)
    boxes.tell("started", "one", { imageDigest: "sha256:1", runtime: "runsc" })
    boxes.tell("destroyed", "one", { reason: "It was left." })
    await governance.close()
    expect(sink.entries).toEqual([
      {
        kind: "sandbox",
        run: "r",
        data: {
          event: "started",
          executor: "docker",
          containerId: "one",
          imageDigest: "sha256:1",
          details: { runtime: "runsc" },
        },
      },
      {
        kind: "sandbox",
        run: "r",
        data: { event: "destroyed", executor: "docker", containerId: "one", reason: "It was left." },
      },
    ])
  })

  it("are watched to their end, and no others after the watch is over", async () => {
    const sink = new MemorySink()
    await using governance = new Governance({ audit: sink })
    const boxes = new Boxes()
    const watch = governance.watchSandboxes(boxes)
    boxes.tell("started", "one")
    watch[Symbol.dispose]()
    boxes.tell("destroyed", "one")
    boxes.tell("started", "two")
    await governance.close()
    expect(sink.entries.map(({ data }) => "event" in data && data.event)).toEqual(["started", "destroyed"])
  })

  it("are those of the whole executor where it does not tell of each", async () => {
    const sink = new MemorySink()
    await using governance = new Governance({ audit: sink })
    const watch = governance.watchSandboxes(new FakeExecutor())
    watch[Symbol.dispose]()
    watch[Symbol.dispose]()
    await governance.close()
    expect(sink.entries.map(({ data }) => "event" in data && data.event)).toEqual(["created", "destroyed"])
  })

  it("are not passed over in silence where they cannot be written down", async () => {
    const sink = new MemorySink(() => {
      throw new Error("no disk")
    })
    const governance = new Governance({ audit: sink })
    using _watch = governance.watchSandboxes(new FakeExecutor())
    await expect(governance.close()).rejects.toMatchObject({ code: "AUDIT_WRITE_FAILED" })
  })
})
