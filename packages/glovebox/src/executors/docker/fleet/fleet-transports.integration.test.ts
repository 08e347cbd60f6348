import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { succeed } from "../../../testing/expectations.ts"
import { programsIn } from "../../../testing/programs.ts"
import { HAS_NO_DOCKER, IMAGE } from "../docker-subject.test-kit.ts"
import { eventually } from "../eventually.test-kit.ts"
import { DockerFleet, type DockerFleetOptions } from "../index.ts"
import { EngineGate } from "./engine-gate.test-kit.ts"
import { containersOf } from "./second-engine.test-kit.ts"

const run = promisify(execFile)
const FIRST = "unix:///var/run/docker.sock"
const TENANT = `transports-${process.pid}`
const { print, write, show } = programsIn(["python"])

// One engine, to which each host of the fleet has another way.
describe.skipIf(HAS_NO_DOCKER)("a fleet whose engines are reached in different ways", () => {
  const path = process.env["PATH"]
  let folder = ""
  const file = (name: string): string => join(folder, name)
  const read = (name: string): string => readFileSync(file(name), "utf8")

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "gb-fleet-ways-"))
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    for (const name of ["engine", "client"]) {
      const files = ["-keyout", file(`${name}-key.pem`), "-out", file(`${name}.pem`)]
      const names = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1"]
      await run("openssl", ["req", "-x509", ...key, ...files, ...names])
    }
    // What a far machine does with the command; ssh itself has tests of its own.
    const far = `#!/bin/sh\n[ "$*" = "-o BatchMode=yes -o ConnectTimeout=15 -- runner@far docker system dial-stdio" ] || exit 9\n`
    await writeFile(file("ssh"), `${far}exec docker --host ${FIRST} system dial-stdio\n`, { mode: 0o755 })
    process.env["PATH"] = `${folder}${delimiter}${path}`
  })
  afterAll(async () => {
    process.env["PATH"] = path
    await rm(folder, { recursive: true, force: true })
  })

  function fleetOf(
    hosts: DockerFleetOptions["hosts"],
    options: Partial<DockerFleetOptions> = {},
  ): DockerFleet {
    const tenants = { [TENANT]: { runtime: "runc", pool: 0 } }
    return new DockerFleet({ hosts, tenants, image: IMAGE, pull: "never", healthCheckMs: 100, ...options })
  }

  async function secureGate(): Promise<EngineGate> {
    return EngineGate.open({
      cert: read("engine.pem"),
      key: read("engine-key.pem"),
      ca: read("client.pem"),
      requestCert: true,
      rejectUnauthorized: true,
    })
  }

  it("runs code by a socket, TCP with TLS and ssh, and an executor's files go from one to the next", async () => {
    await using gate = await secureGate()
    const tls = { ca: read("engine.pem"), cert: read("client.pem"), key: read("client-key.pem") }
    const ways = ["socket", "tls", "ssh"]
    await using fleet = fleetOf([
      { name: "socket", dockerHost: FIRST, capacity: 1 },
      { name: "tls", dockerHost: gate.address, tls, capacity: 1 },
      { name: "ssh", dockerHost: "ssh://runner@far", capacity: 1 },
    ])
    await fleet.start()
    expect(fleet.status().hosts.map(({ state, lastError }) => [state, lastError])).toEqual(
      ways.map(() => ["up", undefined]),
    )
    await using executor = fleet.executor({ tenant: TENANT })
    await succeed(executor, write("file", "carried"))
    for (const way of ways) {
      await Promise.all(ways.filter((other) => other !== way).map(async (other) => fleet.drain(other)))
      const { sandbox, stdout } = await succeed(executor, show("file"))
      expect([sandbox.engine, stdout]).toEqual([way, "carried"])
      for (const other of ways) fleet.undrain(other)
    }
    await fleet.stop()
    expect(await containersOf(FIRST, TENANT)).toEqual([])
  })

  it("uses none that cannot prove who it is, or asks for a proof that is not given", async () => {
    await using gate = await secureGate()
    const own = { cert: read("client.pem"), key: read("client-key.pem") }
    await using fleet = fleetOf([
      { name: "impostor", dockerHost: gate.address, tls: { ...own, ca: read("client.pem") }, capacity: 9 },
      { name: "true", dockerHost: FIRST, capacity: 1 },
    ])
    await fleet.start()
    expect(fleet.status().hosts[0]).toMatchObject({
      state: "down",
      lastError: expect.stringMatching(/certificate/),
    })
    await using executor = fleet.executor({ tenant: TENANT })
    expect((await succeed(executor, print("x"))).sandbox.engine).toBe("true")
    await using shy = fleetOf([
      { name: "shy", dockerHost: gate.address, tls: { ca: read("engine.pem") }, capacity: 1 },
    ])
    await shy.start()
    expect(shy.status().hosts[0]).toMatchObject({ state: "down" })
  })

  it("takes a call elsewhere whose engine went away between making a container and starting it", async () => {
    await using gate = await EngineGate.open()
    await using fleet = fleetOf([
      { name: "cut", dockerHost: gate.address, capacity: 9 },
      { name: "whole", dockerHost: FIRST, capacity: 1 },
    ])
    await fleet.start()
    gate.onRequest = (text) => {
      if (/^POST \S+\/start /.test(text)) gate.cut()
    }
    await using executor = fleet.executor({ tenant: TENANT })
    const events = []
    for await (const event of executor.stream([print("once")])) events.push(event)
    expect(events.at(-1)).toMatchObject({ result: { stdout: "once", sandbox: { engine: "whole" } } })
    expect(events.filter(({ type }) => type === "block-started")).toHaveLength(1)
    await eventually("only what was never started is left", async () => (await left()).length === 1)
    gate.onRequest = () => {}
    gate.mend()
    await eventually("it is removed when its engine answers again", async () => (await left()).length === 0)
    await fleet.drain("whole")
    expect((await succeed(executor, print("back"))).sandbox.engine).toBe("cut")
  })

  const left = async (): Promise<string[]> => containersOf(FIRST, TENANT)
})
