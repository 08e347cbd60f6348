import { randomUUID } from "node:crypto"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { succeed } from "../../testing/expectations.ts"
import { python, sh } from "../../testing/programs.ts"
import { pythonFunction } from "../functions/python-function.ts"
import type { DockerCommandLineCodeExecutor } from "./docker-command-line-code-executor.ts"
import { dockerCommand } from "./docker-command.test-kit.ts"
import type { DockerCommandLineCodeExecutorOptions } from "./docker-options.ts"
import { HAS_NO_DOCKER, docker } from "./docker-subject.test-kit.ts"
import {
  type Files,
  type Tools,
  filesServer,
  gitRepository,
  npmRegistry,
  pythonIndex,
  tools,
} from "./egress-packages.test-kit.ts"
import { HOST, type TestServer, reaching } from "./egress-servers.test-kit.ts"

const origin = (port: number): string => `http://${HOST}:${port}`

interface Tool {
  readonly name: string
  readonly files: () => Promise<Files>
  readonly install: (origin: string) => string
  /** Says "installed" when it is. */
  readonly use: string
  readonly requests: readonly string[]
  /** What it says of a host that is not listed. */
  readonly denied: RegExp
}

let made: Promise<Files> | undefined
const index = async (): Promise<Files> => (made ??= pythonIndex())

const TOOLS: readonly Tool[] = [
  {
    name: "pip install",
    files: async () => index(),
    install: (from) =>
      `python3 -m pip install --no-cache-dir --retries 0 --disable-pip-version-check --target lib --index-url ${from}/simple/ --trusted-host ${HOST} gb-egress-thing`,
    use: `PYTHONPATH=lib python3 -c 'import gb_egress_thing; print(gb_egress_thing.WORD)'`,
    requests: ["/simple/gb-egress-thing/", "/files/gb_egress_thing-1.0-py3-none-any.whl"],
    denied: /No matching distribution found for gb-egress-thing/,
  },
  {
    name: "npm install",
    files: npmRegistry,
    install: (from) =>
      `npm install --registry ${from}/ --fetch-retries 0 --no-audit --no-fund --no-update-notifier gb-egress-thing@1`,
    use: `node -p 'require("gb-egress-thing")'`,
    requests: ["/gb-egress-thing", "/gb-egress-thing/-/gb-egress-thing-1.0.0.tgz"],
    denied: /403 Denied by Glovebox: index\.test:\d+ is not in network\.allow/,
  },
  {
    name: "git clone",
    files: gitRepository,
    install: (from) => `git clone --quiet ${from}/repo.git repo`,
    use: `grep -q cloned repo/README && echo installed`,
    requests: ["/repo.git/info/refs", "/repo.git/HEAD"],
    denied: /requested URL returned error: 403/,
  },
]

describe.skipIf(HAS_NO_DOCKER)("what installs from the network, through an allow-list:", () => {
  const images = new Set<string>()
  let installed: Tools
  beforeAll(async () => {
    installed = await tools()
  })
  afterAll(async () => {
    await installed[Symbol.asyncDispose]()
    if (images.size > 0) await dockerCommand("rmi", "-f", ...images).catch(() => "")
  })

  describe.each(TOOLS)("$name", ({ files, install, use, requests, denied }) => {
    let server: TestServer
    beforeAll(async () => {
      server = await filesServer(await files(), origin)
    })
    afterAll(async () => server[Symbol.asyncDispose]())

    it("works where the host is listed", async () => {
      await using executor = docker({
        policy: installed.policy,
        pool: false,
        carry: false,
        ...reaching(server.port),
      })
      const { stdout, egress } = await succeed(executor, sh(install(origin(server.port))), sh(use))
      expect(stdout.trim().split("\n").at(-1)).toBe("installed")
      expect(egress?.every(({ verdict, host }) => verdict === "allowed" && host === HOST)).toBe(true)
      expect(egress?.map(({ path }) => path)).toEqual(expect.arrayContaining([...requests]))
    })

    it("fails where there is no network, or the host is not listed, and reaches nothing", async () => {
      const before = server.connected
      const lacking = reaching(server.port, {}, { allow: ["other.test:443"] })
      const attempts = ([{ network: "none" }, lacking] as const).map(async (options) => {
        await using executor = docker({ policy: installed.policy, pool: false, carry: false, ...options })
        const result = await executor.executeCodeBlocks([sh(install(origin(server.port)))])
        return result
      })
      const [closed, listed] = await Promise.all(attempts)
      expect([closed?.exitCode === 0, listed?.exitCode === 0]).toEqual([false, false])
      expect([closed?.egress, listed?.output]).toEqual([undefined, expect.stringMatching(denied)])
      expect(listed?.egress?.map(({ denial }) => denial?.code)).toContain("NOT_ALLOWED")
      expect(server.connected).toBe(before)
    })
  })

  describe("packages of functions", () => {
    let server: TestServer
    beforeAll(async () => {
      server = await filesServer(await index(), origin)
    })
    afterAll(async () => server[Symbol.asyncDispose]())

    // A function of its own each time: what was prepared once is not installed again.
    function withFunctions(options: DockerCommandLineCodeExecutorOptions): DockerCommandLineCodeExecutor {
      const env = {
        PIP_INDEX_URL: `${origin(server.port)}/simple/`,
        PIP_TRUSTED_HOST: HOST,
        PIP_RETRIES: "0",
      }
      const source = `def word():\n    # ${randomUUID()}\n    return gb_egress_thing.WORD`
      const functions = [
        pythonFunction({ source, pythonPackages: ["gb-egress-thing==1.0"], imports: ["gb_egress_thing"] }),
      ]
      const executor = docker({ functions, env, pool: false, ...options })
      executor.on("container-started", ({ imageDigest }) => images.add(imageDigest))
      return executor
    }

    it("are installed where the index is listed", async () => {
      await using executor = withFunctions(reaching(server.port))
      const { stdout, egress } = await succeed(executor, python("import functions\nprint(functions.word())"))
      expect(stdout).toBe("installed\n")
      // What the preparation reached is not the code's doing.
      expect([egress, server.connected]).toEqual([[], 2])
    })

    it("are an error where it is not, or there is no network, that says what to do", async () => {
      await using closed = withFunctions({})
      await expectFailure(closed.start(), "PACKAGES_FAILED", /network: \{ allow: .*package index/)
      await using lacking = withFunctions(reaching(server.port, {}, { allow: ["other.test:443"] }))
      await expectFailure(lacking.start(), "PACKAGES_FAILED", /gb-egress-thing/)
    })
  })
})
