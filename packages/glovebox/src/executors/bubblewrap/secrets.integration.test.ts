import { describe, expect, it } from "vitest"
import { secureServer } from "../../egress/tls-servers.test-kit.ts"
import { succeed } from "../../testing/expectations.ts"
import { BubblewrapCodeExecutor } from "./bubblewrap-code-executor.ts"

const VALUE = "value-that-no-sandbox-sees"

describe("secrets in bubblewrap", () => {
  it("are used by curl and Python, which trust the sandbox's authority without a change", async () => {
    const seen: (string | undefined)[] = []
    await using server = await secureServer(
      ({ headers }, response) => {
        seen.push(headers.authorization)
        response.end(`sent ${headers.authorization}\n`)
      },
      { host: "api.test" },
    )
    const to = `api.test:${server.port}`
    await using executor = new BubblewrapCodeExecutor({
      pool: false,
      secretValues: { TOKEN: VALUE },
      egress: { lookup: async () => ["127.0.0.1"], ca: server.ca },
      policy: {
        network: { allow: [{ to, intercept: true }], allowPrivate: [`127.0.0.1:${server.port}`] },
        secrets: {
          TOKEN: { hosts: [to], header: "Authorization", format: "Bearer {value}", env: "API_TOKEN" },
        },
      },
    })
    const { stdout, egress } = await succeed(
      executor,
      { language: "bash", code: `curl -sS https://${to}/ && curl -sS -u "me:$API_TOKEN" https://${to}/` },
      {
        language: "python",
        code: `import urllib.request\nprint(urllib.request.urlopen("https://${to}/").read().decode(), end="")`,
      },
    )
    expect(seen).toEqual([`Bearer ${VALUE}`, `Bearer ${VALUE}`, `Bearer ${VALUE}`])
    expect(stdout).toMatch(/^(?:sent Bearer gbx_\w{22}\n){3}$/)
    const receipt = [{ name: "TOKEN", host: to }]
    expect(egress?.map(({ secrets }) => secrets)).toEqual([receipt, receipt, receipt])
  })
})
