import assert from "node:assert/strict"
import { begin, rejectionOf, rejectsWith, stillWorks, succeed, within } from "../expectations.ts"
import type { Suite } from "../suite.ts"

/** Starting, stopping, and starting again. */
export function defineLifecycle({ it, itIf, subject, programs }: Suite): void {
  const { features } = subject

  it("stop rejects what runs and what waits, quickly, however often it is called", async () => {
    const executor = subject.create({ concurrency: 1 })
    const { result, spoke } = begin(executor, [programs.wait("on")])
    await spoke
    const queued = executor.executeCodeBlocks([programs.print("x")])
    const rejections = [rejectsWith(result, "EXECUTOR_STOPPED"), rejectsWith(queued, "EXECUTOR_STOPPED")]
    await within(Promise.all([executor.stop(), executor.stop()]), 10, "stop")
    await within(Promise.all(rejections), 5, "the calls")
    await executor.stop()
    await executor[Symbol.asyncDispose]()
  })

  it("after stop it refuses, and after start it works again", async () => {
    await using executor = subject.create()
    await stillWorks(executor, programs.print)
    await executor.stop()
    await rejectsWith(executor.executeCodeBlocks([programs.print("x")]), "EXECUTOR_STOPPED")
    await rejectsWith(executor.stream([programs.print("x")]).next(), "EXECUTOR_STOPPED")
    await executor.start()
    await executor.start()
    await stillWorks(executor, programs.print)
  })

  it("stop before any use is fine, and so is start at the same time as stop", async () => {
    await using executor = subject.create()
    await executor.stop()
    const starting = executor.start().then(
      () => "started",
      () => "refused",
    )
    await within(Promise.all([executor.stop(), starting]), 30, "start and stop")
    await executor.start()
    await stillWorks(executor, programs.print)
  })

  it("start takes a signal", async () => {
    await using executor = subject.create()
    const reason = new Error("not now")
    assert.equal(await rejectionOf(executor.start({ signal: AbortSignal.abort(reason) })), reason)
    const controller = new AbortController()
    const starting = executor.start({ signal: controller.signal })
    controller.abort(reason)
    assert.equal(await rejectionOf(starting), reason)
    await stillWorks(executor, programs.print)
  })

  itIf(features.files, "restart ends what runs and forgets the files; stop and start does not", async () => {
    await using executor = subject.create()
    await succeed(executor, programs.write("old.txt", "old"))
    const { result, spoke } = begin(executor, [programs.wait("on")])
    await spoke
    const rejection = rejectsWith(result, "EXECUTOR_STOPPED")
    await executor.restart()
    await rejection
    assert.equal((await succeed(executor, programs.show("old.txt"))).stdout, "absent")
    if (features.session) return
    await succeed(executor, programs.write("kept.txt", "kept"))
    await executor.stop()
    await executor.start()
    assert.equal((await succeed(executor, programs.show("kept.txt"))).stdout, "kept")
  })

  it("a stop during a restart is the last word", async () => {
    await using executor = subject.create()
    await executor.start()
    const restarted = rejectsWith(executor.restart(), "EXECUTOR_STOPPED")
    await executor.stop()
    await restarted
    await rejectsWith(executor.executeCodeBlocks([programs.print("still here")]), "EXECUTOR_STOPPED")
  })

  it("leaving the block of `await using` stops it", async () => {
    let leaked = subject.create()
    {
      await using executor = subject.create()
      leaked = executor
      await stillWorks(executor, programs.print)
    }
    await rejectsWith(leaked.executeCodeBlocks([programs.print("x")]), "EXECUTOR_STOPPED")
  })
}
