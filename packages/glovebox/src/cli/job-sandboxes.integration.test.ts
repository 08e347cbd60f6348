import { spawn } from "node:child_process"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { HAS_NO_DOCKER } from "../executors/docker/docker-subject.test-kit.ts"
import { IMAGE, bin, buildCommand, containersOf, ended, glovebox } from "./glovebox.test-kit.ts"
import { serveJson } from "./json-server.test-kit.ts"
import { JobBench, NOTHING, runs, says } from "./job.test-kit.ts"

beforeAll(async () => {
  await buildCommand()
})

const DOCKER = ["--model", "openai/gpt-4o", "--image", IMAGE]

/** The environment of a test, with the engine of this machine. */
function withEngine(bench: JobBench): NodeJS.ProcessEnv {
  return { ...bench.env, DOCKER_HOST: process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock" }
}

describe.skipIf(HAS_NO_DOCKER)("jobs in Docker", () => {
  it("run code in a container, and bring out its files", async () => {
    await using bench = await JobBench.open(
      runs("import platform; open('a.txt', 'w').write('x'); print(platform.system())"),
      says("Linux."),
    )
    const { code, stdout, stderr } = await glovebox(
      ["run", ...DOCKER, "--out", `${bench.folder}/out`, "Which system?"],
      "",
      withEngine(bench),
      bench.folder,
    )
    expect([code, stdout]).toEqual([0, "Linux.\n"])
    expect(stderr).toMatch(/wrote \S+a\.txt/)
  })

  it("keep files from turn to turn of a chat, in one container", async () => {
    await using bench = await JobBench.open(
      runs("open('/tmp/outside', 'w').write('7'); open('in.txt', 'w').write('8')"),
      says("Kept."),
      runs("print('seen', open('/tmp/outside').read(), open('in.txt').read())"),
      says("Both."),
    )
    const { code, stdout, stderr } = await glovebox(
      ["chat", ...DOCKER],
      "Keep.\nLook.\n",
      withEngine(bench),
      bench.folder,
    )
    expect([code, stdout]).toEqual([0, "Kept.\nBoth.\n"])
    expect(stderr).toContain("seen 7 8")
  })

  it("leave no container after Ctrl-C", async () => {
    await using bench = await JobBench.open(
      runs("import time; print('rea' + 'dy', flush=True)\nwhile True: time.sleep(1)"),
    )
    const child = spawn(process.execPath, [bin, "run", ...DOCKER, "Go."], {
      env: { ...process.env, ...withEngine(bench) },
      cwd: bench.folder,
    })
    const end = ended(child)
    await vi.waitFor(async () => expect((await containersOf(child.pid)).length).toBeGreaterThan(0), {
      timeout: 60_000,
    })
    child.kill("SIGINT")
    expect(await end).toMatchObject({ code: 130, stdout: "" })
    expect(await containersOf(child.pid)).toEqual([])
  })
})

describe("jobs with other models", () => {
  it("find a running Ollama, and ask it in the way that its model understands", async () => {
    const asked: Record<string, unknown>[] = []
    const answers = ["```python\nprint(6 * 7)\n```", "It is 42."]
    await using server = await serveJson({
      "/api/tags": () => ({ models: [{ name: "tiny:1b" }] }),
      "/api/show": () => ({ capabilities: ["completion"] }),
      "/api/chat": (body) => {
        asked.push(JSON.parse(body) as Record<string, unknown>)
        const message = { role: "assistant", content: answers.shift() ?? "" }
        return { message, done: true, done_reason: "stop" }
      },
    })
    await using bench = await JobBench.open()
    const env = { ...NOTHING, HOME: bench.folder, OLLAMA_HOST: server.url }
    const { code, stdout, stderr } = await glovebox(["run", "Six times seven?"], "", env, bench.folder)
    expect([code, stdout]).toEqual([0, "It is 42.\n"])
    expect(stderr).toMatch(/the model is ollama\/tiny:1b \(by Ollama answers at .*\); without tools/)
    expect(asked.map(({ model, tools }) => [model, tools])).toEqual([
      ["tiny:1b", undefined],
      ["tiny:1b", undefined],
    ])
  })

  it("say what to install when a model's package is missing", async () => {
    await using bench = await JobBench.open()
    const hook = `export async function resolve(name, context, next) {
      if (name === "openai") throw Object.assign(new Error("none"), { code: "ERR_MODULE_NOT_FOUND" })
      return next(name, context)
    }`
    const start = `import { register } from "node:module"; register(${JSON.stringify(dataUrl(hook))})`
    const { code, stdout, stderr } = await glovebox(
      ["run", "--model", "openai/gpt-4o", "--sandbox", "wasm", "Go."],
      "",
      { ...bench.env, NODE_OPTIONS: `--import ${dataUrl(start)}` },
      bench.folder,
    )
    expect([code, stdout]).toEqual([1, ""])
    expect(stderr).toContain("needs the package openai, which is not installed. Run: npm install openai")
  })
})

function dataUrl(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`
}
