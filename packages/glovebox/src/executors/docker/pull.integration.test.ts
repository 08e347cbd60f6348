import type { TarEntry } from "modern-tar"
import { beforeAll, describe, expect, it } from "vitest"
import { rejectionOf, succeed, within } from "../../testing/expectations.ts"
import { programsIn, sh } from "../../testing/programs.ts"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import type { DockerCommandLineCodeExecutor } from "./docker-command-line-code-executor.ts"
import { dockerCommand } from "./docker-command.test-kit.ts"
import { HAS_NO_DOCKER, docker } from "./docker-subject.test-kit.ts"
import type { PullProgress } from "./follow-pull.ts"
import { busyboxRoot } from "./image-files.test-kit.ts"
import { Registry } from "./registry.test-kit.ts"

const { print } = programsIn(["sh"])
const showVersion = sh("cat /version")

function progressOf(executor: DockerCommandLineCodeExecutor): PullProgress[] {
  const list: PullProgress[] = []
  executor.on("pull", ({ progress }) => list.push(progress))
  return list
}

describe.skipIf(HAS_NO_DOCKER)("an image of a registry", () => {
  let root: TarEntry[] = []

  beforeAll(async () => {
    root = await busyboxRoot()
  })

  it("is pulled when the engine lacks it, tells how far it is, and runs; when it is there nobody is asked", async () => {
    await using registry = await Registry.start(root)
    const { reference: image, digest } = await registry.push("tools/shell:1", "one")
    await using executor = docker({ image, pull: "missing", pool: false })
    const progress = progressOf(executor)
    const { stdout, sandbox } = await succeed(executor, showVersion)
    expect([stdout, sandbox.image]).toEqual(["one", image])
    const statuses = progress.map(({ status }) => status)
    expect(new Set(progress.map((each) => each.image))).toEqual(new Set([image]))
    expect(statuses.join("\n")).toMatch(
      /Pulling from tools\/shell[^]*Pull complete[^]*Downloaded newer image/,
    )
    expect(statuses).toContain(`Digest: ${digest}`)
    const loading = progress.filter(({ status }) => status === "Downloading" || status === "Extracting")
    expect(loading.length).toBeGreaterThan(0)
    for (const { layer, current, total } of loading) {
      expect(layer).toMatch(/^[0-9a-f]{12}$/)
      expect(current).toBeLessThanOrEqual(total ?? 0)
    }
    registry.requests.length = 0
    await using other = docker({ image, pull: "missing", pool: false })
    const none = progressOf(other)
    expect((await succeed(other, showVersion)).stdout).toBe("one")
    expect([registry.requests, none]).toEqual([[], []])
  })

  it("is asked for again when pull is always, and the newer one of that name runs", async () => {
    await using registry = await Registry.start(root)
    const { reference: image } = await registry.push("tools/shell:latest", "old")
    const options = { image, pool: false } as const
    await using first = docker({ ...options, pull: "always" })
    expect((await succeed(first, showVersion)).stdout).toBe("old")
    registry.requests.length = 0
    await using same = docker({ ...options, pull: "always" })
    expect((await succeed(same, showVersion)).stdout).toBe("old")
    expect(registry.requests.join("\n")).toMatch(/manifests\/latest/)
    await registry.push("tools/shell:latest", "new")
    await using missing = docker({ ...options, pull: "missing" })
    expect((await succeed(missing, showVersion)).stdout).toBe("old")
    await using always = docker({ ...options, pull: "always" })
    expect((await succeed(always, showVersion)).stdout).toBe("new")
    // What runs is what was found at the start, whatever the name means now.
    expect((await succeed(first, showVersion)).stdout).toBe("old")
  })

  it("does not run as it was when pull is always and the pull fails", async () => {
    await using registry = await Registry.start(root)
    const { reference: image } = await registry.push("tools/shell:latest", "old")
    await using first = docker({ image, pull: "always", pool: false })
    await succeed(first, showVersion)
    const { layer } = await registry.push("tools/shell:latest", "new")
    registry.forged.set(layer, undefined)
    await using second = docker({ image, pull: "always", pool: false })
    await expectFailure(second.executeCodeBlocks([showVersion]), "IMAGE_UNAVAILABLE", /could not pull/)
  })

  it("is not asked for when pull is never", async () => {
    await using registry = await Registry.start(root)
    const { reference: image } = await registry.push("tools/shell:1", "one")
    await using executor = docker({ image, pull: "never" })
    const failure = await expectFailure(executor.start(), "IMAGE_UNAVAILABLE", /pull is never/)
    expect(failure.message).toContain(image)
    expect(registry.requests).toEqual([])
  })

  it("that is named by its digest is pulled, also when its tag has moved on", async () => {
    await using registry = await Registry.start(root)
    const { pinned, digest } = await registry.push("tools/shell:1", "pinned")
    await registry.push("tools/shell:1", "moved on")
    await using executor = docker({ image: pinned, pull: "missing", pool: false })
    const { stdout, sandbox } = await succeed(executor, showVersion)
    expect([stdout, sandbox.image]).toEqual(["pinned", pinned])
    expect(registry.requests).toContain(`GET manifests/${digest}`)
    registry.requests.length = 0
    await using other = docker({ image: pinned, pull: "missing", pool: false })
    await succeed(other, showVersion)
    expect(registry.requests).toEqual([])
  })

  it("that is another than its digest says is refused: its manifest, or a layer of it", async () => {
    await using registry = await Registry.start(root)
    const asked = await registry.push("tools/shell:1", "asked for")
    const other = await registry.push("tools/shell:2", "other")
    registry.forged.set(asked.digest, other.digest)
    await using deceived = docker({ image: asked.pinned, pull: "missing" })
    const failure = await expectFailure(deceived.start(), "IMAGE_UNAVAILABLE", /verif|digest/)
    expect(failure.message).toContain(asked.pinned)
    registry.forged.clear()
    registry.forged.set(asked.layer, other.layer)
    await using swapped = docker({ image: asked.pinned, pull: "missing" })
    await expectFailure(swapped.start(), "IMAGE_UNAVAILABLE", /verif|digest|unexpected commit|size/)
    registry.forged.clear()
    expect((await succeed(swapped, showVersion)).stdout).toBe("asked for")
  })

  it("that the registry has not, or has without a layer, is an error that names it", async () => {
    await using registry = await Registry.start(root)
    const { reference, layer } = await registry.push("tools/shell:1", "one")
    for (const image of [reference.replace(/:1$/, ":2"), `${registry.host}/tools/nothing:1`]) {
      await using executor = docker({ image, pull: "missing" })
      const failure = await expectFailure(executor.start(), "IMAGE_UNAVAILABLE", /manifest|not found/)
      expect(failure.message).toContain(image)
    }
    registry.forged.set(layer, undefined)
    await using executor = docker({ image: reference, pull: "missing" })
    const failure = await expectFailure(executor.start(), "IMAGE_UNAVAILABLE", /could not pull/)
    expect(failure.message).toContain(reference)
  })

  it("of a registry that is not there is an error soon", async () => {
    // Nothing listens on port 1.
    const image = "127.0.0.1:1/tools/shell:1"
    await using executor = docker({ image, pull: "missing" })
    const failure = await within(
      expectFailure(executor.start(), "IMAGE_UNAVAILABLE", /refused/),
      30,
      "the error",
    )
    expect(failure.message).toContain(image)
  })

  it("takes an abort while it is pulled; the pull goes on for those who still wait", async () => {
    await using registry = await Registry.start(root)
    const { reference: image, layer } = await registry.push("tools/shell:1", "one")
    const stall = registry.stall(layer)
    await using executor = docker({ image, pull: "missing", pool: false })
    const controller = new AbortController()
    const aborted = rejectionOf(executor.executeCodeBlocks([print("x")], { signal: controller.signal }))
    const waiting = succeed(executor, showVersion)
    await within(stall.asked, 30, "the engine")
    const reason = new Error("enough")
    controller.abort(reason)
    expect(await within(aborted, 5, "the abort")).toBe(reason)
    stall.release()
    expect((await within(waiting, 60, "the other call")).stdout).toBe("one")
    expect((await succeed(executor, print("fine"))).stdout).toBe("fine")
  })

  it("is given up when the executor stops, and can be pulled later", async () => {
    await using registry = await Registry.start(root)
    const { reference: image, layer } = await registry.push("tools/shell:1", "one")
    const stall = registry.stall(layer)
    await using executor = docker({ image, pull: "missing", pool: false })
    const call = expectFailure(executor.executeCodeBlocks([print("x")]), "EXECUTOR_STOPPED")
    await within(stall.asked, 30, "the engine")
    await within(executor.stop(), 10, "stop")
    await call
    // The engine would wait on for what it was given half of, had it not given up that pull.
    stall.lift()
    await within(executor.start(), 30, "the next pull")
    expect((await succeed(executor, showVersion)).stdout).toBe("one")
  })

  it("is pulled for two executors at once", async () => {
    await using registry = await Registry.start(root)
    const { reference: image } = await registry.push("tools/shell:1", "one")
    const options = { image, pull: "missing", pool: false } as const
    await using first = docker(options)
    await using second = docker(options)
    const results = await Promise.all(
      [first, first, second, second].map(async (executor) => succeed(executor, showVersion)),
    )
    expect(results.map(({ stdout }) => stdout)).toEqual(["one", "one", "one", "one"])
    expect(new Set(results.map(({ sandbox }) => sandbox.imageDigest)).size).toBe(1)
    expect(await dockerCommand("images", "-q", image)).not.toBe("")
  })
})
