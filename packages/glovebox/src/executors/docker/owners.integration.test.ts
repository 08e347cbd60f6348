import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { succeed } from "../../testing/expectations.ts"
import { programsIn } from "../../testing/programs.ts"
import { containersWith, dockerCommand, exists, foreignContainer } from "./docker-command.test-kit.ts"
import { BASE, HAS_NO_DOCKER, IMAGE, docker } from "./docker-subject.test-kit.ts"

const { print } = programsIn(["python"])
const MODULE = fileURLToPath(new URL("index.ts", import.meta.url))
const KILLS = 10

// Runs until it is killed: short and long calls, restarts, a pool that is never full.
const OWNER = `
import { DockerCommandLineCodeExecutor } from ${JSON.stringify(MODULE)}
const executor = new DockerCommandLineCodeExecutor({ ...${JSON.stringify(BASE)}, concurrency: 3, pool: { size: 2 } })
console.log("up")
const block = (code) => [{ language: "python", code }]
for (let round = 0; ; round += 1) {
  await Promise.allSettled([
    executor.executeCodeBlocks(block("print(1)")),
    executor.executeCodeBlocks(block("import time; time.sleep(0.3)")),
    executor.executeCodeBlocks(block("import os, time\\nif os.fork() == 0:\\n    os.setsid()\\n    time.sleep(1000)\\ntime.sleep(0.1)")),
  ])
  if (round % 3 === 2) await executor.restart()
}
`

function spawnNode(code: string): ChildProcess {
  return spawn(
    process.execPath,
    ["--import", "tsx", "--conditions=@glovebox/source", "--input-type=module", "-e", code],
    { stdio: ["ignore", "pipe", "inherit"], cwd: fileURLToPath(new URL("../../../../..", import.meta.url)) },
  )
}

/** Containers that this process made. */
async function ownedBy(pids: readonly number[]): Promise<{ id: string; state: string }[]> {
  const lines = await dockerCommand(
    "ps",
    "-a",
    "--no-trunc",
    "--filter",
    "label=org.glovebox.owner",
    "--format",
    `{{.ID}} {{.State}} {{.Label "org.glovebox.process"}}`,
  )
  return lines
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, , owner]) => pids.includes(Number(owner?.split(":")[0])))
    .map(([id = "", state = ""]) => ({ id, state }))
}

describe.skipIf(HAS_NO_DOCKER)("containers of processes that end", () => {
  it(`of ${KILLS} owners killed at random moments nothing runs on, and the next start removes the rest`, async () => {
    const pids: number[] = []
    for (let batch = 0; batch < KILLS; batch += 5) {
      await Promise.all(
        [0, 1, 2, 3, 4].map(async () => {
          const child = spawnNode(OWNER)
          pids.push(child.pid ?? 0)
          await once(child.stdout!, "data")
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 4000))
          child.kill("SIGKILL")
          await once(child, "exit")
        }),
      )
    }
    await expect
      .poll(async () => (await ownedBy(pids)).filter(({ state }) => state === "running").length, {
        timeout: 10_000,
      })
      .toBe(0)
    await using executor = docker({ pool: false })
    await executor.start()
    await expect.poll(async () => ownedBy(pids), { timeout: 10_000 }).toEqual([])
  })

  it("a process that is done ends by itself, although it never said stop", async () => {
    const code = `
import { DockerCommandLineCodeExecutor } from ${JSON.stringify(MODULE)}
const executor = new DockerCommandLineCodeExecutor(${JSON.stringify(BASE)})
const { stdout } = await executor.executeCodeBlocks([{ language: "python", code: "print(6 * 7)" }])
console.log(stdout.trim())`
    const child = spawnNode(code)
    const [data] = (await once(child.stdout!, "data")) as [Buffer]
    expect(data.toString()).toBe("42\n")
    const ended = await Promise.race([
      once(child, "exit").then(() => "ended"),
      new Promise((resolve) => setTimeout(() => resolve("still there"), 15_000)),
    ])
    child.kill("SIGKILL")
    expect(ended).toBe("ended")
    await expect.poll(async () => ownedBy([child.pid ?? 0]), { timeout: 10_000 }).toEqual([])
  })

  it("what a dead owner left is removed at the next start; others' containers are not", async () => {
    // The labels of a real one, with a process that is not there, or began at another time.
    await using living = docker({ pool: { size: 1 } })
    await living.start()
    const [mine] = await ownedBy([process.pid])
    const labels = JSON.parse(
      await dockerCommand("inspect", "--format", "{{json .Config.Labels}}", mine?.id ?? ""),
    ) as Record<string, string>
    const asLabels = (container: string, changes: Record<string, string>): string[] =>
      Object.entries({ ...labels, "org.glovebox.container": container, ...changes }).map(
        ([name, value]) => `${name}=${value}`,
      )
    const tag = `gb-owner-${process.pid}`
    await using dead = await foreignContainer(
      `${tag}-dead`,
      asLabels(`${tag}-dead`, { "org.glovebox.process": "999999999:1" }),
    )
    await using reused = await foreignContainer(
      `${tag}-reused`,
      asLabels(`${tag}-reused`, { "org.glovebox.process": `${process.pid}:1` }),
    )
    await using kept = await foreignContainer(
      `${tag}-kept`,
      asLabels(`${tag}-kept`, { "org.glovebox.process": "999999999:1", "org.glovebox.keep": "true" }),
    )
    await using elsewhere = await foreignContainer(
      `${tag}-elsewhere`,
      asLabels(`${tag}-elsewhere`, {
        "org.glovebox.process": "999999999:1",
        "org.glovebox.host": "another/machine",
      }),
    )
    await using foreign = await foreignContainer(`${tag}-foreign`)
    // As of an image that was made of one of ours, and has its labels.
    await using inherited = await foreignContainer(
      `${tag}-inherited`,
      asLabels("another", { "org.glovebox.process": "999999999:1" }),
    )
    const created = await dockerCommand(
      "create",
      "--name",
      `${tag}-created`,
      ...asLabels(`${tag}-created`, { "org.glovebox.process": "999999999:1" }).flatMap((label) => [
        "--label",
        label,
      ]),
      IMAGE,
      "true",
    )
    await using executor = docker({ pool: false })
    const removed: string[] = []
    executor.on("orphan-removed", ({ containerId }) => removed.push(containerId))
    await executor.start()
    await expect.poll(() => removed.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(3)
    expect(removed).toEqual(expect.arrayContaining([dead.id, reused.id, created]))
    expect(await Promise.all([dead.id, reused.id, created].map(exists))).toEqual([false, false, false])
    for (const id of [kept.id, elsewhere.id, foreign.id, inherited.id, mine?.id ?? ""]) {
      expect((await containersWith(`id=${id}`)).map(({ state }) => state)).toEqual(["running"])
    }
    expect((await succeed(living, print("unharmed"))).stdout).toBe("unharmed")
  })
})
