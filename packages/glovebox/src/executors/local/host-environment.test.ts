import { delimiter } from "node:path"
import { describe, expect, it } from "vitest"
import { hostEnvironment } from "./host-environment.ts"

const HOST = {
  PATH: "/usr/bin",
  HOME: "/home/ada",
  LANG: "de_DE.UTF-8",
  LC_TIME: "C",
  TZ: "UTC",
  SystemRoot: "C:\\Windows",
  OPENAI_API_KEY: "secret",
  AWS_SECRET_ACCESS_KEY: "secret",
  LC_SECRET_TOKEN: "secret",
  PYTHONPATH: "/home/ada/mine",
  NODE_OPTIONS: "--inspect",
  LD_PRELOAD: "/tmp/x.so",
  SSH_AUTH_SOCK: "/run/agent",
  UNSET: undefined,
}

const of = (options: Partial<Parameters<typeof hostEnvironment>[0]> = {}): Record<string, string> =>
  hostEnvironment({ host: HOST, env: {}, virtualEnv: undefined, modules: undefined, ...options })

describe("hostEnvironment", () => {
  it("passes names of a list, and no other", () => {
    const passed = Object.keys(of()).filter((name) => !name.startsWith("PYTHON"))
    expect(passed.toSorted()).toEqual(["HOME", "LANG", "LC_TIME", "PATH", "SystemRoot", "TZ"])
    expect(Object.values(of())).not.toContain("secret")
    expect(of()).not.toHaveProperty("PYTHONPATH")
  })

  it("adds what the user gives, in the place of what is there", () => {
    expect(of({ env: { TZ: "CET", TOKEN: "mine", PYTHONIOENCODING: "" } })).toMatchObject({
      TZ: "CET",
      TOKEN: "mine",
      PYTHONIOENCODING: "",
    })
  })

  it("puts a virtual environment's programs and the functions' module first", () => {
    const virtualEnv = { binPath: "/v/bin", envExe: "/v/bin/python", envDir: "/v" }
    expect(of({ virtualEnv, modules: "/m", env: { PYTHONPATH: "/p" } })).toMatchObject({
      PATH: `/v/bin${delimiter}/usr/bin`,
      VIRTUAL_ENV: "/v",
      PYTHONPATH: `/m${delimiter}/p`,
    })
    expect(of({ host: { Path: "/w" }, virtualEnv })).toMatchObject({ Path: `/v/bin${delimiter}/w` })
  })
})
