import { describe, expect, it } from "vitest"
import { succeed } from "../../testing/expectations.ts"
import { programsIn, sh } from "../../testing/programs.ts"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { DockerCommandLineCodeExecutor } from "./docker-command-line-code-executor.ts"
import type { DockerCommandLineCodeExecutorOptions } from "./docker-options.ts"
import { containersWith, dockerCommand, exists, foreignContainer, madeBy } from "./docker-command.test-kit.ts"
import { HAS_NO_DOCKER, IMAGE, docker } from "./docker-subject.test-kit.ts"

const { print } = programsIn(["python"])

describe.skipIf(HAS_NO_DOCKER)("settings of the executor", () => {
  it("a command to begin with runs in each container before any code", async () => {
    await using executor = docker({ initCommand: "mkdir -p /tmp/made && echo ready > /tmp/made/state" })
    for (let call = 0; call < 2; call += 1) {
      expect((await succeed(executor, sh("cat /tmp/made/state"))).stdout).toBe("ready\n")
    }
  })

  it("a command to begin with that fails, or never ends, fails the call with what it said", async () => {
    await using failing = docker({ initCommand: "echo cannot be done >&2; exit 4" })
    await expectFailure(failing.executeCodeBlocks([print("x")]), "SANDBOX_SETUP_FAILED", /4.*cannot be done/)
    const made = madeBy(failing)
    await expectFailure(failing.start(), "SANDBOX_SETUP_FAILED")
    await expect
      .poll(async () => (await Promise.all(made.map(exists))).includes(true), { timeout: 5_000 })
      .toBe(false)
    await using endless = docker({ initCommand: "sleep 1000", timeout: "1s" })
    await expectFailure(endless.executeCodeBlocks([print("x")]), "SANDBOX_SETUP_FAILED", /timeout/)
  })

  it("any size of memory will do", async () => {
    await using executor = docker({ memory: 100_000_001 })
    expect((await succeed(executor, print("x"))).sandbox.effective["memory"]).toBe(99_942_400)
  })

  it("languages can be added and replaced", async () => {
    await using executor = docker({
      languages: {
        shout: { command: ["tr", "a-z", "A-Z"], extension: "txt" },
        awk: { command: ["awk", "-f"] },
        rust: { command: "rustc", install: "Rust" },
      },
    })
    const { stdout } = await succeed(executor, { language: "AWK", code: `BEGIN { print "awk ran" }` })
    expect(stdout).toBe("awk ran\n")
    await expectFailure(
      executor.executeCodeBlocks([{ language: "rust", code: "" }]),
      "LANGUAGE_UNAVAILABLE",
      /glovebox\/sandbox:py3.*rustc.*Rust/,
    )
  })

  it("an image that is not there is named, whether or not it may be pulled", async () => {
    const image = "127.0.0.1:1/glovebox/none:x"
    await using never = docker({ image, pull: "never" })
    await expectFailure(
      never.executeCodeBlocks([print("x")]),
      "IMAGE_UNAVAILABLE",
      /127\.0\.0\.1:1\/glovebox\/none:x/,
    )
    await using missing = docker({ image, pull: "missing" })
    await expectFailure(missing.executeCodeBlocks([print("x")]), "IMAGE_UNAVAILABLE", /none:x.*pull/)
    await using present = docker({ pull: "missing" })
    expect((await succeed(present, print("x"))).sandbox.image).toBe(IMAGE)
  })

  it("the report tells what really runs: the image's id, the runtime and the settings", async () => {
    await using executor = docker({ memory: "128MiB", pids: 50, cpus: 0.5 })
    const { sandbox } = await succeed(executor, print("x"))
    expect(sandbox).toMatchObject({
      kind: "docker",
      isolation: "run",
      image: IMAGE,
      imageDigest: await dockerCommand("image", "inspect", "--format", "{{.Id}}", IMAGE),
      runtime: "runc",
      policySha256: executor.policy.sha256,
      effective: {
        memory: 128 * 1024 ** 2,
        pids: 50,
        cpus: 0.5,
        network: "none",
        readOnlyRoot: true,
        capabilities: [],
      },
    })
  })

  it("what cannot be enforced is refused before a container is made", async () => {
    const cases: [DockerCommandLineCodeExecutorOptions, RegExp][] = [
      [{ runtime: "no-such-runtime" }, /no-such-runtime/],
      [{ policy: { isolation: "vm" } }, /vm/],
      [{ policy: { isolation: "userspace-kernel" } }, /userspace-kernel/],
    ]
    for (const [options, message] of cases) {
      await using executor = docker(options)
      const made = madeBy(executor)
      await expectFailure(executor.executeCodeBlocks([print("x")]), "SANDBOX_UNENFORCEABLE", message)
      expect(made).toEqual([])
    }
  })

  it("names of containers are the executor's own, and no other container is touched", async () => {
    const name = `gb-pool-${process.pid}`
    await using foreign = await foreignContainer(`${name}-2`)
    await using first = docker({ containerName: name, pool: { size: 1 } })
    await using second = docker({ containerName: name, pool: { size: 1 } })
    const outcomes = await Promise.allSettled(
      [first, second, first, second].map(async (executor) => executor.executeCodeBlocks([print("x")])),
    )
    const seen = outcomes.map((outcome) =>
      outcome.status === "rejected" ? (outcome.reason as { code: string }).code : outcome.value.stdout,
    )
    expect(seen.filter((outcome) => outcome !== "x" && outcome !== "CONTAINER_NAME_TAKEN")).toEqual([])
    expect((await containersWith(`id=${foreign.id}`)).map(({ state }) => state)).toEqual(["running"])
  })

  it("calls of one named executor at the same time do not take each other's names", async () => {
    await using executor = docker({ containerName: `gb-many-${process.pid}`, concurrency: 4, pool: false })
    const results = await Promise.all([1, 2, 3, 4, 5, 6].map(async () => succeed(executor, print("x"))))
    expect(new Set(results.map(({ sandbox }) => sandbox.containerId)).size).toBe(6)
  })

  it("a container that is to be kept is there, stopped, after its call", async () => {
    const executor = docker({ autoRemove: false, pool: false })
    try {
      const { sandbox } = await succeed(executor, print("x"))
      const id = sandbox.containerId ?? ""
      await expect
        .poll(async () => (await containersWith(`id=${id}`))[0]?.state, { timeout: 5_000 })
        .toBe("exited")
      await executor.stop()
      await using other = docker()
      await other.start()
      await other.stop()
      expect(await exists(id)).toBe(true)
      await dockerCommand("rm", "-f", id)
    } finally {
      await executor.stop()
    }
  })

  it("an engine that is not there is a typed error that names it", async () => {
    await using nowhere = new DockerCommandLineCodeExecutor({ dockerHost: "unix:///nonexistent/docker.sock" })
    await expectFailure(nowhere.executeCodeBlocks([print("x")]), "ENGINE_UNAVAILABLE", /nonexistent/)
    await using closed = new DockerCommandLineCodeExecutor({ dockerHost: "tcp://127.0.0.1:1" })
    await expectFailure(closed.executeCodeBlocks([print("x")]), "ENGINE_UNAVAILABLE", /127\.0\.0\.1:1/)
    await using plain = new DockerCommandLineCodeExecutor({ dockerHost: "tcp://192.0.2.1:2375" })
    await expectFailure(plain.executeCodeBlocks([print("x")]), "OPTION_INVALID", /TLS/)
  })
})
