import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it } from "vitest"

const hasEngine = process.env["GLOVEBOX_TEST_DOCKER"] !== "unavailable"

it.skipIf(!hasEngine)(
  "the code reaches its service, as it may, and the list says what else it tried",
  async () => {
    const example = fileURLToPath(new URL("one-host.ts", import.meta.url))
    const { stdout } = await promisify(execFile)("npx", ["--no-install", "tsx", example], {
      cwd: fileURLToPath(new URL("../..", import.meta.url)),
      env: { ...process.env, GLOVEBOX_SANDBOX_IMAGE: "glovebox/sandbox:py3" },
    })
    expect(stdout).toBe(`mean 1.76
HTTP Error 403: Denied by Glovebox: POST is not a method that the rule data.example:PORT (GET, "/heights", down 1MiB) allows
<urlopen error Tunnel connection failed: 403 Denied by Glovebox: evil.example:443 is not in network.allow>
allowed: GET to data.example
denied: POST to data.example (METHOD)
denied: CONNECT to evil.example (NOT_ALLOWED)
`)
  },
)
