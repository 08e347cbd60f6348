import { SpanKind, SpanStatusCode } from "@opentelemetry/api"
import { expect, it } from "vitest"
import type { EgressConnection, EgressDenialCode } from "../../egress/index.ts"
import { codeResult } from "../../executors/code-result.test-kit.ts"
import { allTextOf, connection, listening } from "./telemetry.test-kit.ts"

const CANARY = "do-not-record"
const blocks = [{ code: "print(1)", language: "python" }]
const done = connection({ address: "192.0.2.1", bytesUp: 100, bytesDown: 2000, ended: "client" })

function refused(code: EgressDenialCode, host = "evil.example"): EgressConnection {
  const denial = { code, rule: undefined, resource: host, message: "No.", suggestion: "Do not." }
  return connection({ host, verdict: "denied", rule: undefined, denial, ended: "policy" })
}

it("begins a span when a connection opens, below its run, and ends it when that closes", () => {
  const { telemetry, span, spans } = listening()
  const parent = telemetry.codeRun({ agent: "coder", blocks })
  telemetry.egress({ state: "opened", connection: connection() }, { agent: "coder", parent })
  expect(spans()).toEqual([])
  telemetry.egress({ state: "closed", connection: done }, { agent: "coder", parent })
  expect(span("egress")).toMatchObject({ kind: SpanKind.CLIENT, status: { code: SpanStatusCode.UNSET } })
  expect(span("egress").attributes).toEqual({
    "gen_ai.agent.name": "coder",
    "server.address": "api.example.com",
    "server.port": 443,
    "network.peer.address": "192.0.2.1",
    "glovebox.egress.verdict": "allowed",
    "glovebox.egress.via": "connect",
    "glovebox.egress.rule": "api.example.com:443",
    "glovebox.egress.ended": "client",
    "glovebox.egress.bytes_up": 100,
    "glovebox.egress.bytes_down": 2000,
  })
  parent.end(codeResult())
  expect(span("egress").parentSpanContext?.spanId).toBe(span("run_code").spanContext().spanId)
})

it("makes one span with an error for a connection that is denied", () => {
  const { telemetry, span } = listening()
  telemetry.egress({ state: "denied", connection: refused("NOT_ALLOWED") }, { agent: "coder" })
  expect(span("egress")).toMatchObject({
    status: { code: SpanStatusCode.ERROR },
    attributes: {
      "error.type": "NOT_ALLOWED",
      "server.address": "evil.example",
      "glovebox.egress.verdict": "denied",
      "glovebox.egress.denial": "NOT_ALLOWED",
    },
  })
})

it.each(["BAD_HOST", "BAD_REQUEST", "UNSUPPORTED"] as const)(
  "does not repeat what a program wrote where a host should be (%s)",
  (code) => {
    const { telemetry, spans } = listening()
    const event = { state: "denied", connection: refused(code, CANARY) } as const
    telemetry.egress(event, { agent: "coder" })
    expect(spans()).toHaveLength(1)
    expect(allTextOf(spans())).not.toContain(CANARY)
  },
)

it("keeps paths out, and redacts hosts", () => {
  const { telemetry, spans } = listening({ redact: (text) => text.replaceAll("hunter2", "***") })
  const asked = connection({ via: "http", host: "hunter2.example.com", method: "GET", path: `/${CANARY}` })
  telemetry.egress({ state: "opened", connection: asked }, { agent: "coder" })
  telemetry.egress({ state: "closed", connection: asked }, { agent: "coder" })
  expect(allTextOf(spans())).toContain("***.example.com")
  expect(allTextOf(spans())).not.toMatch(/hunter2|do-not-record/)
})

it("tells why an allowed connection was cut", () => {
  const { telemetry, span } = listening()
  const { denial } = refused("BUDGET")
  telemetry.egress({ state: "opened", connection: connection() }, { agent: "coder" })
  telemetry.egress({ state: "closed", connection: { ...done, denial, ended: "budget" } }, { agent: "coder" })
  expect(span("egress")).toMatchObject({
    status: { code: SpanStatusCode.ERROR },
    attributes: { "error.type": "BUDGET", "glovebox.egress.verdict": "allowed" },
  })
})

it("ends with its run what the run left open, with the result's numbers, before the run's own span", async () => {
  const { telemetry, span, spans, metric } = listening()
  const parent = telemetry.codeRun({ agent: "coder", blocks })
  for (const id of [1, 2]) {
    telemetry.egress({ state: "opened", connection: connection({ id }) }, { agent: "coder", parent })
  }
  telemetry.egress({ state: "closed", connection: { ...done, id: 2 } }, { agent: "coder", parent })
  parent.end(codeResult({ egress: [{ ...done, bytesUp: 7, ended: undefined }] }))
  expect(spans().map(({ name }) => name)).toEqual(["egress", "egress", "run_code"])
  expect(spans()[1]?.attributes).toMatchObject({ "glovebox.egress.bytes_up": 7 })
  // It may still be told that it closed, when nobody waits for that any more.
  telemetry.egress({ state: "closed", connection: done }, { agent: "coder", parent })
  expect(span("run_code").status.code).toBe(SpanStatusCode.UNSET)
  expect(spans()).toHaveLength(3)
  const { points } = await metric("glovebox.egress.connections")
  expect(points).toEqual([{ attributes: { "glovebox.egress.verdict": "allowed" }, value: 2 }])
})

it("keeps the connections of two runs apart, though they have the same numbers", () => {
  const { telemetry, spans } = listening()
  const runs = ["a.example", "b.example"].map((host) => {
    const parent = telemetry.codeRun({ agent: "coder", blocks })
    telemetry.egress({ state: "opened", connection: connection({ host }) }, { agent: "coder", parent })
    return parent
  })
  runs.forEach((parent, index) => {
    const closed = { ...done, bytesUp: index + 1 }
    telemetry.egress({ state: "closed", connection: closed }, { agent: "coder", parent })
  })
  const seen = spans().map(({ attributes }) => [
    attributes["server.address"],
    attributes["glovebox.egress.bytes_up"],
  ])
  expect(seen).toEqual([
    ["a.example", 1],
    ["b.example", 2],
  ])
})

it("ends a connection that nobody closed when its number comes again", () => {
  const { telemetry, spans } = listening()
  for (const host of ["a.example", "b.example"]) {
    telemetry.egress({ state: "opened", connection: connection({ host }) }, { agent: "coder" })
  }
  expect(spans().map(({ attributes }) => attributes["server.address"])).toEqual(["a.example"])
})
