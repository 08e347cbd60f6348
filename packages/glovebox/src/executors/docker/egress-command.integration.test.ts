import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { buildCommand, glovebox, useOwnFolder } from "../../cli/glovebox.test-kit.ts"
import { HAS_NO_DOCKER, IMAGE } from "./docker-subject.test-kit.ts"
import { program } from "./egress-programs.test-kit.ts"
import { webServer } from "./egress-servers.test-kit.ts"

let folder = ""
let leave = async (): Promise<void> => {}

beforeAll(async () => {
  await buildCommand()
  leave = await useOwnFolder()
  folder = await mkdtemp(join(tmpdir(), "gb-egress-command-"))
})
afterAll(async () => {
  await leave()
  await rm(folder, { recursive: true, force: true })
})

async function policyFile(network: string): Promise<string> {
  const file = join(folder, "glovebox.policy.yaml")
  await writeFile(file, `image: ${IMAGE}\nruntime: runc\nnetwork: ${network}\n`)
  return file
}

describe("an allow-list in a policy's file", () => {
  it.skipIf(HAS_NO_DOCKER)("is kept by glovebox exec, which tells in JSON what was reached", async () => {
    await using web = await webServer()
    const file = await policyFile(`{ allowPrivate: ["127.0.0.1:${web.port}"], allow: ["example.com:443"] }`)
    // The list of what needs no proxy has this machine's own addresses.
    const { code } = program(`os.environ["no_proxy"] = os.environ["NO_PROXY"] = ""
show(fetch("http://127.0.0.1:${web.port}/hello")); show(fetch("http://evil.test/")[:40])`)
    const args = ["exec", "--sandbox", "docker", "--policy", file, "--lang", "python"]
    const plain = await glovebox(args, code)
    expect(plain).toEqual({
      code: 0,
      stdout: `hello from 127.0.0.1:${web.port}\n403 Denied by Glovebox: evil.test:80 is \n`,
      stderr: expect.stringMatching(
        /^glovebox: denied: evil\.test:80 is not in network\.allow\..*\n$/,
      ) as string,
    })
    const { stdout } = await glovebox([...args, "--json"], code)
    expect(JSON.parse(stdout)).toMatchObject({
      exitCode: 0,
      egress: [
        { host: "127.0.0.1", port: web.port, verdict: "allowed", rule: `127.0.0.1:${web.port} (private)` },
        { host: "evil.test", port: 80, verdict: "denied", denial: { code: "NOT_ALLOWED" } },
      ],
    })
  })

  it("is shown by glovebox policy check as what is wider, and a bad rule is refused where it stands", async () => {
    const good = await policyFile(`{ allow: ["*.example.com:443"], allowPrivate: ["10.0.0.5:5432"] }`)
    const checked = await glovebox(["policy", "check", good])
    expect([checked.code, checked.stderr]).toEqual([0, ""])
    expect(checked.stdout).toMatch(/network.*\*\.example\.com:443.*10\.0\.0\.5:5432/s)
    for (const [network, words] of [
      [`{ allow: ["example.com"] }`, /network\.allow\.0.*host:port/],
      [`{ allow: ["*.com:443"] }`, /network\.allow\.0.*wildcard/],
      [`{ allow: ["0x7f000001:80"] }`, /network\.allow\.0.*looks like an address/],
      [`{ allow: [] }`, /network\.allow.*write network: none/],
      [`{ allow: [{ to: "example.com:80", method: GET }] }`, /network\.allow\.0\.method.*methods/],
    ] as const) {
      const file = await policyFile(network)
      const { code, stderr } = await glovebox(["policy", "check", file])
      expect(code).not.toBe(0)
      expect(stderr).toMatch(words)
      expect(stderr).toContain(`${file}:3`)
    }
  })
})
