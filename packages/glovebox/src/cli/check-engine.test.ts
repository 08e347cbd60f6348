import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { GloveboxError } from "../core/index.ts"
import { engineRemedy } from "../executors/docker/engine-remedy.ts"
import { howFound } from "./check-engine.ts"
import { describeWall } from "./check-sandbox.ts"
import { checkNode } from "./doctor-command.ts"

const unavailable = (code: string): GloveboxError =>
  new GloveboxError("ENGINE_UNAVAILABLE", "", { cause: Object.assign(new Error(code), { code }) })

describe("engineRemedy", () => {
  it.each([
    ["EACCES", /usermod -aG docker.*rootless/],
    ["ENOENT", /install and start Docker/],
    ["ECONNREFUSED", /start the engine/],
    ["ENOTFOUND", /no machine has that name/],
    ["ECONNRESET", /docker version/],
  ])("says what to do about %s", (code, remedy) => {
    expect(engineRemedy(unavailable(code))).toMatch(remedy)
  })
})

describe("howFound", () => {
  it("names the first of the ways that leads to an engine", async () => {
    const folder = await mkdtemp(join(tmpdir(), "glovebox-docker-"))
    const env = { DOCKER_CONFIG: folder }
    try {
      expect(await howFound({}, env)).toBe("at the usual place")
      await writeFile(join(folder, "config.json"), JSON.stringify({ currentContext: "lab" }))
      expect(await howFound({}, env)).toBe("by the Docker context lab")
      expect(await howFound({}, { ...env, DOCKER_CONTEXT: "a" })).toBe("by DOCKER_CONTEXT")
      expect(await howFound({}, { ...env, DOCKER_HOST: "a", DOCKER_CONTEXT: "a" })).toBe("by DOCKER_HOST")
      expect(await howFound({ dockerContext: "a" }, { DOCKER_HOST: "a" })).toBe("by --docker-context")
      expect(await howFound({ dockerHost: "a", dockerContext: "a" }, env)).toBe("by --docker-host")
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

describe("checkNode", () => {
  it("asks for 20.19 or later", () => {
    const status = (version: string): string => checkNode(version).status
    expect(["18.20.0", "20.18.9"].map(status)).toEqual(["fail", "fail"])
    expect(["20.19.0", "22.0.0"].map(status)).toEqual(["ok", "ok"])
  })
})

describe("describeWall", () => {
  it("says what holds, and what does not", () => {
    const strict = {
      user: "1:1",
      network: "none",
      readOnlyRoot: true,
      capabilities: [],
      noNewPrivileges: true,
    }
    const limits = { memory: 1024 ** 3, cpus: 0.5, pids: 8 }
    expect(describeWall({ ...strict, ...limits, kernel: { Seccomp: "2" } })).toBe(
      "user 1:1, network none, read-only root, no capabilities, no new privileges, seccomp, memory 1GiB, 0.5 cpu, 8 processes",
    )
    expect(
      describeWall({
        ...limits,
        user: "1:1",
        network: "bridge",
        readOnlyRoot: false,
        capabilities: ["CHOWN"],
      }),
    ).toBe("user 1:1, network bridge, writable root, capabilities CHOWN, memory 1GiB, 0.5 cpu, 8 processes")
  })
})
