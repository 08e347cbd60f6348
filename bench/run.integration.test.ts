import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const SCRIPT = fileURLToPath(new URL("run.ts", import.meta.url))

function run(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): { status: number | null; stderr: string } {
  const node = ["--import", "tsx", "--conditions=@glovebox/source", SCRIPT, ...args]
  return spawnSync(process.execPath, node, { encoding: "utf8", env: { ...process.env, ...env } })
}

it.each([
  ["no name", []],
  ["an unknown name", ["nothing"]],
  ["an unknown option", ["core", "--wrong"]],
])("run prints the known names for %s, and exits with 2", (_, args) => {
  const { status, stderr } = run(args)
  expect(stderr).toContain("Known names: audit, chat, core, docker, egress, executors, grpc")
  expect(status).toBe(2)
})

it("run exits with 1 and one clear line when the Python named for AutoGen lacks it", () => {
  const { status, stderr } = run(["core"], { GLOVEBOX_AUTOGEN_PYTHON: "/nowhere/python" })
  expect(stderr.trim().split("\n")).toEqual([
    expect.stringContaining(
      "GLOVEBOX_AUTOGEN_PYTHON names /nowhere/python, which cannot import autogen_core",
    ),
  ])
  expect(status).toBe(1)
})

it("run exits with 1 and one clear line when there is no engine to measure", () => {
  const { status, stderr } = run(["docker"], { DOCKER_HOST: "unix:///nowhere/docker.sock" })
  expect(stderr.trim().split("\n")).toEqual([
    expect.stringMatching(/^The docker bench needs an engine: .*\/nowhere\/docker\.sock/),
  ])
  expect(status).toBe(1)
})
