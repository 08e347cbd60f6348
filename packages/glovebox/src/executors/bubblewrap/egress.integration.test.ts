import { describe, expect, it } from "vitest"
import { program } from "../docker/egress-programs.test-kit.ts"
import {
  HOST,
  holdingServer,
  reaching,
  sampleBytes,
  sha256,
  webServer,
} from "../docker/egress-servers.test-kit.ts"
import { BubblewrapCodeExecutor } from "./bubblewrap-code-executor.ts"

describe("an allow-list in bubblewrap", () => {
  it.each(["run", "session"] as const)("holds, in isolation by %s", async (isolation) => {
    await using web = await webServer()
    await using executor = new BubblewrapCodeExecutor({ isolation, pool: false, ...reaching(web.port) })
    const size = 1_000_000
    const code = `show(fetch("http://${HOST}:${web.port}/hello")); show(fetch("http://evil.test/")[:36])
data = fetch("http://${HOST}:${web.port}/bytes/${size}")
print(hashlib.sha256(data).hexdigest(), fetch("http://${HOST}:${web.port}/upload", data).decode())
try: socket.create_connection(("10.0.0.1", 80), 20)
except OSError as error: print(error.strerror)
try: socket.getaddrinfo("${HOST}", 80)
except socket.gaierror: print("no names")
print([name for _, name in socket.if_nameindex()])`
    const hash = sha256(sampleBytes(size))
    for (let call = 0; call < 2; call += 1) {
      const { stdout, egress, sandbox } = await executor.executeCodeBlocks([program(code)])
      expect(stdout).toBe(`hello from ${HOST}:${web.port}
403 Denied by Glovebox: evil.test:80
${hash} ${size} ${hash}
Network is unreachable
no names
['lo']
`)
      expect(egress?.map(({ verdict }) => verdict)).toEqual(["allowed", "denied", "allowed", "allowed"])
      expect(sandbox.effective?.["network"]).toBe("none")
    }
  })

  it("leaves no connection behind when a run is killed", async () => {
    await using server = await holdingServer()
    await using executor = new BubblewrapCodeExecutor({
      pool: false,
      ...reaching(server.port, { protocol: "tcp" }),
    })
    const { termination } = await executor.executeCodeBlocks([
      program(`kept = [connect("${HOST}", ${server.port}) for _ in range(20)]\nos.kill(os.getpid(), 9)`),
    ])
    expect([termination, server.connected]).toEqual(["signal", 20])
    await server.whenLeft()
  })
})
