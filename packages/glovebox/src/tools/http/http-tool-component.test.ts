import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { configOf, roundTrip } from "../../core/components/round-trip.test-kit.ts"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { ComponentRegistry } from "../../core/index.ts"
import { type Tool, toolResultText } from "../index.ts"
import { type HttpToolOptions, autogenHttpToolComponent, httpTool, httpToolComponent } from "./index.ts"

const registry = new ComponentRegistry([httpToolComponent, autogenHttpToolComponent])
const parameters = {
  type: "object",
  properties: { id: { type: "string", minLength: 2 } },
  required: ["id"],
} as const
const options: HttpToolOptions<typeof parameters> = {
  name: "user",
  description: "A user",
  url: "https://api.example.com/users/{id}",
  allow: ["api.example.com", "*.example.com:8443"],
  parameters,
}

const server = createServer((request, response) => response.end(`${request.method} ${request.url}`))
let port: number
beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  ;({ port } = server.address() as AddressInfo)
})
afterAll(() => void server.close())

describe("an HTTP tool in data", () => {
  it("is made again with all that it may and must", async () => {
    const made = roundTrip(
      registry,
      httpTool({
        ...options,
        method: "PUT",
        headers: { "x-tenant": "a" },
        timeoutMs: 2_500,
        maxBytes: 1_000,
        allowPrivate: true,
        approval: true,
        risk: "high",
        errors: "fatal",
      }),
    )
    expect(configOf(made)).toMatchObject({
      timeout: 2.5,
      approval: true,
      allow_private: true,
      errors: "fatal",
    })
    expect(await made.needsApproval({ id: "ab" })).toBe(true)
    expect((await made.run({ id: "a" })).isError).toBe(true)
  })

  it("asks as it did", async () => {
    const origin = `http://127.0.0.1:${port}`
    const url = `${origin}/users/{id}`
    const made = roundTrip(
      registry,
      httpTool({ ...options, url, allow: [`127.0.0.1:${port}`], allowPrivate: true }),
    )
    expect(toolResultText(await made.run({ id: "ab" }))).toBe("GET /users/ab")
  })

  it.each<[string, Partial<HttpToolOptions<never>>]>([
    ["headers", { headers: () => ({}) }],
    ["Authorization", { headers: { Authorization: "Bearer x" } }],
    ["api_key", { url: "https://api.example.com/users/{id}?api_key=x" }],
    ["approval", { approval: () => true }],
    ["errors", { errors: () => "fatal" }],
    ["parameters", { parameters: z.object({ id: z.string() }) as never }],
  ])("is refused with %s that data cannot have", (name, changes) => {
    const made = httpTool({ ...options, ...changes } as typeof options)
    expect(failureOf(() => made.toComponent())).toMatch(new RegExp(`^COMPONENT_INVALID: .*${name}`))
  })

  it("is refused with fields that it has not, such as a misspelt approval", () => {
    const { config } = httpTool(options).toComponent()
    const misspelt = { ...config, aproval: true }
    expect(
      failureOf(() => registry.load({ provider: httpToolComponent.provider, config: misspelt })),
    ).toMatch(/^COMPONENT_INVALID: .*aproval/)
  })

  it("is read as AutoGen wrote it, for that host alone and no private address", async () => {
    const config = {
      name: "user",
      description: "A user",
      scheme: "http",
      host: "127.0.0.1",
      port,
      path: "/users/{id}",
      method: "GET",
      headers: null,
      json_schema: parameters,
      return_type: "json",
      timeout: 5,
    }
    const made = registry.load({ provider: autogenHttpToolComponent.provider, config }) as Tool
    expect(toolResultText(await made.run({ id: "ab" }))).toMatch(/only public ones/)
  })
})
