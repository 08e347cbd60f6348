import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { type Server, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { Engine } from "../executors/docker/engine.ts"
import { findEngine } from "../executors/docker/engine-address.ts"
import { HAS_NO_DOCKER, POLICY, brokenControls, probe, surprises } from "./verify.test-kit.ts"
import { verify } from "./verify.ts"

describe.skipIf(HAS_NO_DOCKER)("verify, with Docker", () => {
  it("shows every probe as expected under deny-all, and that every one of them can fail", async () => {
    const report = await verify(POLICY, { mode: "full" })
    expect(surprises(report)).toEqual([])
    expect(brokenControls(report)).toEqual([])
    expect(report.pass).toBe(true)
    expect(report.probes.length).toBeGreaterThanOrEqual(80)
    expect(report).toMatchObject({ path: "cold", sandbox: "docker", runtime: "runc", mode: "full" })
    expect(report.imageDigest).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(report.engine).toMatch(/^Docker \d/)
    console.log(`verify, full: ${report.probes.length} probes and their controls in ${report.durationMs} ms`)
  }, 300_000)

  it("shows the same in containers of the pool and of a session", async () => {
    for (const path of ["pooled", "session"] as const) {
      const report = await verify(POLICY, { mode: "quick", path })
      expect(surprises(report)).toEqual([])
      expect([report.pass, report.path]).toEqual([true, path])
      console.log(`verify, quick, ${path}: ${report.probes.length} probes in ${report.durationMs} ms`)
    }
  })

  it("leaves nothing behind: no container, no folder, no variable", async () => {
    const engine = new Engine(await findEngine())
    const before = Object.keys(process.env)
    try {
      await verify(POLICY, { only: ["fs.write-root", "fs.host-file", "secrets.host-value", "life.deadline"] })
      const own = await engine.list([`org.glovebox.process`])
      expect(
        own.filter(({ labels }) => labels["org.glovebox.process"]?.startsWith(`${process.pid}:`)),
      ).toEqual([])
    } finally {
      engine.close()
    }
    expect(Object.keys(process.env)).toEqual(before)
    expect(
      readdirSync(tmpdir()).filter((name) => name.startsWith(`glovebox-verify-${process.pid}-`)),
    ).toEqual([])
  })

  it("expects of a mount what the policy says of it, and sees when it is not so", async () => {
    const folder = mkdtempSync(join(tmpdir(), "glovebox-mounts-"))
    chmodSync(folder, 0o777)
    writeFileSync(join(folder, "data.txt"), "data")
    try {
      const mounts = [
        { source: folder, target: "/data", mode: "ro" as const },
        { source: folder, target: "/out", mode: "rw" as const },
      ]
      const only = ["fs.mount-read:/data", "fs.mount-write:/data", "fs.mount-write:/out", "fs.foreign-mounts"]
      const report = await verify({ ...POLICY, mounts }, { mode: "full", only })
      expect(report.probes.map(({ expected, observed, control }) => [expected, observed, control])).toEqual([
        ["ALLOWED", "ALLOWED", undefined],
        ["BLOCKED", "BLOCKED", "works"],
        ["ALLOWED", "ALLOWED", undefined],
        ["BLOCKED", "BLOCKED", "works"],
      ])
      expect(readdirSync(folder)).toEqual(["data.txt"])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it("expects of an allow-list that it lets through what it has, and nothing else", async () => {
    const server = createServer((socket) => socket.on("error", () => {}).end("!"))
    const port = await listen(server)
    try {
      const network = {
        allow: [`service.example.com:${port}`],
        allowPrivate: [`service.example.com:${port}`],
      }
      const report = await verify(
        { ...POLICY, network },
        {
          mode: "full",
          only: [
            `net.allowed:service.example.com:${port}`,
            "net.proxy-unlisted",
            "net.proxy-names",
            "net.proxy-port",
            "net.proxy-private",
            "net.public",
            "net.host",
            "net.agent-port",
            "secrets.environment",
          ],
          egress: { lookup: async () => ["127.0.0.1"] },
        },
      )
      expect(surprises(report)).toEqual([])
      expect(brokenControls(report)).toEqual([])
      expect(probe(report, `net.allowed:service.example.com:${port}`)).toMatchObject({
        expected: "ALLOWED",
        observed: "ALLOWED",
      })
    } finally {
      server.close()
    }
  })

  it("fails where the policy promises what is not so: a host that is listed and not there", async () => {
    const report = await verify(
      { ...POLICY, network: { allow: ["gone.example.com:443"] } },
      {
        only: ["net.allowed:gone.example.com:443"],
        egress: { lookup: async () => [] },
      },
    )
    expect(report.pass).toBe(false)
    expect(report.probes).toMatchObject([{ expected: "ALLOWED", observed: "BLOCKED", pass: false }])
  })

  it("expects what a policy grants: capabilities, root, a writable root, a network", async () => {
    const report = await verify(
      {
        ...POLICY,
        user: "0:0",
        capabilities: ["NET_RAW"],
        readOnlyRoot: false,
        network: { dangerously: "bridge" },
      },
      {
        only: [
          "kernel.root",
          "kernel.capability:NET_RAW",
          "kernel.capabilities",
          "fs.write-root",
          "net.raw",
          "net.interfaces",
          "net.host",
          "kernel.mount",
        ],
      },
    )
    expect(report.probes.map(({ id, expected }) => [id, expected])).toEqual([
      ["kernel.root", "ALLOWED"],
      ["kernel.capability:NET_RAW", "ALLOWED"],
      ["kernel.capabilities", "BLOCKED"],
      ["fs.write-root", "ALLOWED"],
      ["net.raw", "ALLOWED"],
      ["net.interfaces", "ALLOWED"],
      ["net.host", "ALLOWED"],
      ["kernel.mount", "BLOCKED"],
    ])
    expect(surprises(report)).toEqual([])
  })

  it("ends at once, with the reason, when it is cancelled", async () => {
    const controller = new AbortController()
    const reason = new Error("enough")
    const verifying = verify(POLICY, {
      signal: controller.signal,
      onProbe: () => controller.abort(reason),
    })
    await expect(verifying).rejects.toBe(reason)
  })
})

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("It does not listen.")
  return address.port
}
