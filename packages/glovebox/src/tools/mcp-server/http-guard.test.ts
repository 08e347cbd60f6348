import { describe, expect, it } from "vitest"
import { refuseRequest } from "./http-guard.ts"

const TOKEN = "a-token-of-some-length"
const good = { host: "127.0.0.1:8080", authorization: `Bearer ${TOKEN}` }

describe("refuseRequest", () => {
  it.each([
    good,
    { ...good, host: "localhost:8080" },
    { ...good, origin: "http://127.0.0.1:8080" },
    { ...good, origin: "http://localhost:8080" },
    { ...good, authorization: `bearer ${TOKEN}` },
  ])("lets %j pass", (headers) => {
    expect(refuseRequest(headers, 8080, TOKEN)).toBeUndefined()
  })

  it.each([
    { ...good, host: "evil.example:8080" },
    { ...good, host: "127.0.0.1.evil.example:8080" },
    { ...good, host: "127.0.0.1:8081" },
    { ...good, host: "127.0.0.1" },
    { authorization: good.authorization },
    { ...good, origin: "https://evil.example" },
    { ...good, origin: "http://localhost:3000" },
    { ...good, origin: "http://localhost:8080.evil.example" },
    { ...good, origin: "null" },
  ])("refuses %j, whatever token it has", (headers) => {
    expect(refuseRequest(headers, 8080, TOKEN)?.status).toBe(403)
  })

  it.each([
    undefined,
    "",
    TOKEN,
    `Basic ${TOKEN}`,
    "Bearer",
    "Bearer ",
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(1)}`,
  ])("wants the token: %j is none", (authorization) => {
    expect(refuseRequest({ host: good.host, authorization }, 8080, TOKEN)?.status).toBe(401)
  })
})
