import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { readTokens } from "./read-tokens.ts"
import { readWorkerToken } from "./read-worker-token.ts"

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-tokens-"))
})
afterAll(async () => rm(folder, { recursive: true, force: true }))

async function file(text: string): Promise<string> {
  const path = join(folder, "file")
  await writeFile(path, text)
  return path
}

describe("the file of --tokens", () => {
  it("is YAML, with names as in policies", async () => {
    const path = await file(`
tokens:
  - name: acme
    token: acme-secret
    client_id: acme-1
    register: [echo, "team.*"]
    publish: ["acme:*"]
  - name: other
    token_hash: ${"ab".repeat(32)}
`)
    expect(await readTokens(path)).toEqual([
      {
        name: "acme",
        token: "acme-secret",
        clientId: "acme-1",
        register: ["echo", "team.*"],
        publish: ["acme:*"],
        subscribe: [],
        send: [],
      },
      {
        name: "other",
        tokenHash: "ab".repeat(32),
        clientId: undefined,
        register: [],
        publish: [],
        subscribe: [],
        send: [],
      },
    ])
  })

  it("is JSON", async () => {
    const path = await file(JSON.stringify({ tokens: [{ name: "a", token: "a-secret" }] }))
    expect(await readTokens(path)).toMatchObject([{ name: "a", token: "a-secret" }])
  })

  it.each([
    [
      "tokens:\n  - name: a\n    token: a-secret\n    register: ['a*b']",
      /file:4:16: tokens\.0\.register\.0: is not/,
    ],
    ["tokens:\n  - name: a", /file:2:5: tokens\.0: needs either token or token_hash/],
    ["tokens:\n  - token: my secret\n    name: a", /file:2:\d+: tokens\.0\.token: is no bearer token/],
    ["tokens: []", /tokens: is empty/],
    ["- name: a\n  token: a-secret", /file:1:1: /],
    ["", /file.*tokens: /],
    ["tokens: [", /--tokens: .*file:1:/],
  ])("is refused with its line, and without what is secret: %j", async (text, message) => {
    const path = await file(text)
    const error: unknown = await readTokens(path).catch((reason: unknown) => reason)
    expect(String(error)).toMatch(message)
    expect(String(error)).not.toContain("secret")
  })
})

describe("the token of a worker", () => {
  it("is that of the file, else of the environment", async () => {
    const path = await file("from-file\n")
    const env = { GLOVEBOX_TOKEN: "from-environment" }
    expect(await readWorkerToken(path, env)).toBe("from-file")
    expect(await readWorkerToken(undefined, env)).toBe("from-environment")
    expect(await readWorkerToken(undefined, { GLOVEBOX_TOKEN: "" })).toBeUndefined()
    expect(await readWorkerToken(undefined, {})).toBeUndefined()
  })

  it("is not shown when it is none", async () => {
    await expect(readWorkerToken(await file("two words"), {})).rejects.toThrow(
      /^--token-file: \S+: is no bearer/,
    )
    await expect(readWorkerToken(join(folder, "absent"), {})).rejects.toThrow(/cannot be read/)
  })
})
