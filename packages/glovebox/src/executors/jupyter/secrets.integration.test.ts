import { describe, expect, it } from "vitest"
import { secureServer } from "../../egress/tls-servers.test-kit.ts"
import { HAS_NO_DOCKER, cell, jupyter } from "./jupyter-subject.test-kit.ts"

const VALUE = "value-that-no-sandbox-sees"

describe.skipIf(HAS_NO_DOCKER)("secrets in a notebook", () => {
  it("are used by cells, and go nowhere any more once the network is tightened", async () => {
    const seen: (string | undefined)[] = []
    await using server = await secureServer(
      ({ headers }, response) => {
        seen.push(headers["x-key"]?.toString())
        response.end("in")
      },
      { host: "api.test" },
    )
    const to = `api.test:${server.port}`
    await using executor = jupyter({
      secretValues: { KEY: VALUE },
      egress: { lookup: async () => ["127.0.0.1"], ca: server.ca },
      policy: {
        network: { allow: [{ to, intercept: true }], allowPrivate: [`127.0.0.1:${server.port}`] },
        secrets: { KEY: { hosts: [to] } },
      },
    })
    const ask = `import os, urllib.request
request = urllib.request.Request("https://${to}/", headers={"X-Key": os.environ["KEY"]})
print(urllib.request.urlopen(request).read().decode())`
    const { stdout, egress } = await cell(executor, ask)
    expect([stdout, seen]).toEqual(["in\n", [VALUE]])
    expect(egress).toMatchObject([{ intercepted: true, secrets: [{ name: "KEY", host: to }] }])
    executor.tightenNetwork("none")
    expect(executor.policy.fields.secrets).toBeUndefined()
    expect((await cell(executor, ask)).output).toContain("is not in network.allow")
    expect(seen).toHaveLength(1)
  })
})
