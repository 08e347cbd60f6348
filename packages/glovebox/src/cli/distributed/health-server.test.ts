import { describe, expect, it } from "vitest"
import { HealthServer } from "./health-server.ts"

const HERE = { host: "127.0.0.1", port: 0 }
const get = async (url: string, init?: RequestInit): Promise<[number, string]> => {
  const response = await fetch(url, init)
  return [response.status, await response.text()]
}

describe("the health server", () => {
  it("says that it lives, whether it is ready, and its numbers", async () => {
    let reason: string | undefined
    await using health = await HealthServer.start(HERE, {
      notReady: () => reason,
      metrics: () => [
        { name: "glovebox_things", help: "Things.", type: "gauge", value: 3 },
        {
          name: "glovebox_workers",
          help: "Workers.",
          type: "gauge",
          value: { label: "state", of: { open: 2, away: 0 } },
        },
      ],
    })
    expect(await get(`${health.url}/healthz`)).toEqual([200, "ok\n"])
    expect(await get(`${health.url}/readyz?verbose`)).toEqual([200, "ok\n"])
    reason = "draining"
    expect(await get(`${health.url}/readyz`)).toEqual([503, "draining\n"])
    expect(await get(`${health.url}/healthz`)).toEqual([200, "ok\n"])
    const [status, text] = await get(`${health.url}/metrics`)
    expect(status).toBe(200)
    expect(text).toBe(
      [
        "# HELP glovebox_things Things.",
        "# TYPE glovebox_things gauge",
        "glovebox_things 3",
        "# HELP glovebox_workers Workers.",
        "# TYPE glovebox_workers gauge",
        'glovebox_workers{state="open"} 2',
        'glovebox_workers{state="away"} 0',
        "",
      ].join("\n"),
    )
  })

  it("knows nothing else, and takes nothing", async () => {
    await using health = await HealthServer.start(HERE, { notReady: () => undefined, metrics: () => [] })
    expect((await get(`${health.url}/`))[0]).toBe(404)
    expect((await get(`${health.url}/healthz`, { method: "POST", body: "x" }))[0]).toBe(405)
  })

  it("ends, also twice, and says when its port is taken", async () => {
    const health = await HealthServer.start(HERE, { notReady: () => undefined, metrics: () => [] })
    const port = Number(new URL(health.url).port)
    const second = HealthServer.start({ ...HERE, port }, { notReady: () => undefined, metrics: () => [] })
    await expect(second).rejects.toHaveProperty("code", "EADDRINUSE")
    await health[Symbol.asyncDispose]()
    await health[Symbol.asyncDispose]()
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow("fetch failed")
  })
})
