import type { CallToolResult } from "@modelcontextprotocol/client"
import { describe, expect, it } from "vitest"
import { failureOf } from "../../core/failure-of.test-kit.ts"
import { toolResultText } from "../index.ts"
import { McpWorkbench, type McpWorkbenchOptions } from "./index.ts"
import { contentsOf } from "./mcp-content.ts"

const PNG = Buffer.from("89504E470D0A1A0A0000", "hex").toString("base64")

describe("an MCP server's answer", () => {
  it.each<[string, CallToolResult, string]>([
    ["nothing", { content: [] }, "The tool has finished. It returns nothing."],
    ["data alone", { content: [], structuredContent: { n: 1 } }, '{"n":1}'],
    ["an image", { content: [{ type: "image", data: PNG, mimeType: "image/png" }] }, "[image: image/png]"],
    [
      "no image",
      { content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] },
      "[an image, image/png, 3 bytes, which cannot be shown]",
    ],
    [
      "audio",
      { content: [{ type: "audio", data: "AAAA", mimeType: "audio/wav" }] },
      "[audio, audio/wav, 3 bytes, which cannot be shown]",
    ],
    [
      "a link",
      { content: [{ type: "resource_link", name: "log", uri: "file:///log", mimeType: "text/plain" }] },
      "[log: file:///log, text/plain]",
    ],
    [
      "a text",
      { content: [{ type: "resource", resource: { uri: "file:///a", text: "hi" } }] },
      "[file:///a]\nhi",
    ],
    [
      "a picture",
      { content: [{ type: "resource", resource: { uri: "file:///a", blob: PNG, mimeType: "image/png" } }] },
      "[image: image/png]",
    ],
    [
      "bytes",
      { content: [{ type: "resource", resource: { uri: "file:///a", blob: "AAAA" } }] },
      "[file:///a, application/octet-stream, 3 bytes, which cannot be shown]",
    ],
  ])("shows %s", (_, answer, text) => {
    expect(toolResultText({ result: contentsOf(answer) })).toBe(text)
  })
})

describe("McpWorkbench's options", () => {
  it.each<[string, object]>([
    ["no server", {}],
    ["another protocol", { server: { url: "ftp://example.com" } }],
    ["both kinds", { server: { url: "http://localhost", command: "x" } }],
    ["an option that is none", { server: { command: "x" }, timeout: 5 }],
    ["a pin that is none", { server: { command: "x" }, pins: { echo: "abc" } }],
  ])("refuses %s", (_, options) => {
    expect(failureOf(() => new McpWorkbench(options as McpWorkbenchOptions))).toMatch(
      /^OPTION_INVALID: The MCP workbench's options/,
    )
  })
})
