import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { createServer as createSecureServer } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { eventsOf, succeed } from "../../testing/expectations.ts"
import type { EgressConnection } from "../../egress/index.ts"
import { HAS_NO_DOCKER, docker } from "./docker-subject.test-kit.ts"
import { program } from "./egress-programs.test-kit.ts"
import {
  HOST,
  type TestServer,
  answer,
  echoServer,
  listening,
  reaching,
  webServer,
} from "./egress-servers.test-kit.ts"

const run = promisify(execFile)

/** Host, port, verdict and why not, of each. */
function verdicts(connections: readonly EgressConnection[] | undefined): string[] {
  return (connections ?? []).map(({ via, host, port, verdict, denial }) =>
    [via, `${host}:${port}`, verdict, denial?.code].filter(Boolean).join(" "),
  )
}

describe.skipIf(HAS_NO_DOCKER)("an allow-list in Docker", () => {
  let web: TestServer
  beforeAll(async () => {
    web = await webServer()
  })
  afterAll(async () => web[Symbol.asyncDispose]())

  it("lets code reach the host that is named, by the variables alone, and no other host or port", async () => {
    await using executor = docker({ pool: false, ...reaching(web.port) })
    const { stdout, egress, egressTruncated, sandbox } = await succeed(
      executor,
      program(`show(fetch("http://${HOST}:${web.port}/hello"))
show(fetch("http://evil.test/x"))
show(fetch("http://${HOST}:1/x"))
show(fetch("https://evil.test/x"))
show(fetch("http://${HOST}.evil.test:${web.port}/hello"))
show(fetch("http://${HOST}:${web.port}/move"))`),
    )
    const [hello, evil, port, secure, suffix, moved] = stdout.trim().split(/\n(?=\d{3} |URLError)/)
    expect(hello).toBe(`hello from ${HOST}:${web.port}`)
    expect(evil)
      .toBe(`403 Denied by Glovebox: evil.test:80 is not in network.allow | evil.test:80 is not in network.allow.
Do without evil.test, or ask for "evil.test:80" to be added to network.allow.
`)
    expect(port).toMatch(new RegExp(`403 .*${HOST} is there with port ${web.port} only`))
    expect(secure).toMatch(/URLError.*403 Denied by Glovebox: evil\.test:443 is not in network\.allow/)
    expect(suffix).toMatch(/403 .*is not in network\.allow/)
    expect(moved).toMatch(/403 .*elsewhere\.test:80 is not in network\.allow/)
    expect(verdicts(egress)).toEqual([
      `http ${HOST}:${web.port} allowed`,
      "http evil.test:80 denied NOT_ALLOWED",
      `http ${HOST}:1 denied PORT`,
      "connect evil.test:443 denied NOT_ALLOWED",
      `http ${HOST}.evil.test:${web.port} denied NOT_ALLOWED`,
      `http ${HOST}:${web.port} allowed`,
      "http elsewhere.test:80 denied NOT_ALLOWED",
    ])
    expect(egressTruncated).toBe(false)
    expect(egress?.[0]).toMatchObject({
      rule: `${HOST}:${web.port}`,
      address: "127.0.0.1",
      method: "GET",
      path: "/hello",
      ended: "server",
    })
    expect(egress?.[0]?.bytesUp).toBeGreaterThan(50)
    expect(egress?.[0]?.bytesDown).toBeGreaterThan(stdout.indexOf("\n"))
    expect(egress?.[1]).toMatchObject({
      bytesUp: 0,
      bytesDown: 0,
      denial: { resource: "GET http://evil.test:80/x" },
    })
    expect(sandbox.policySha256).toBe(executor.policy.sha256)
  })

  it("gives no interface: nothing is reached past the proxy, and no name is resolved", async () => {
    await using executor = docker({ pool: false, ...reaching(web.port) })
    const before = web.connected
    const { stdout, egress, sandbox } = await succeed(
      executor,
      program(`import errno
def attempt(what, action):
    try: show(what, "OPEN", action())
    except OSError as error: show(what, errno.errorcode.get(error.errno, type(error).__name__))
for address in ("10.0.0.1", "169.254.169.254", "172.17.0.1", "93.184.216.34"):
    attempt("tcp", lambda: socket.create_connection((address, 80), 20))
attempt("tcp6", lambda: socket.create_connection(("2606:2800:220:1::1", 80), 20))
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("8.8.8.8", 53)))
attempt("loopback", lambda: socket.create_connection(("127.0.0.1", ${web.port}), 20))
for name in ("${HOST}", "example.com"):
    attempt("name", lambda: socket.getaddrinfo(name, 80))
print([name for _, name in socket.if_nameindex()])
print([line.split()[1] for line in open("/proc/net/route")][1:], os.path.exists("/proc/net/if_inet6") and [line.split()[-1] for line in open("/proc/net/if_inet6") if not line.endswith(" lo\\n")])`),
    )
    const lines = stdout.trim().split("\n")
    expect(lines.slice(0, 6)).toEqual([
      ...Array.from({ length: 4 }, () => "tcp ENETUNREACH"),
      expect.stringMatching(/^tcp6 (ENETUNREACH|EADDRNOTAVAIL|EAFNOSUPPORT)$/),
      "udp ENETUNREACH",
    ])
    expect(lines.slice(6)).toEqual([
      "loopback ECONNREFUSED",
      "name gaierror",
      "name gaierror",
      "['lo']",
      expect.stringMatching(/^\[\] (\[\]|False)$/),
    ])
    expect([egress, web.connected - before]).toEqual([[], 0])
    expect(sandbox.effective).toMatchObject({ network: "none", kernel: { interfaces: ["lo"] } })
  })

  it("lets no allowed name lead to an address of this machine, or a private one", async () => {
    const { egress: _lookup, network } = reaching(web.port)
    for (const address of ["127.0.0.1", "169.254.169.254"]) {
      await using executor = docker({
        pool: false,
        network: { allow: network.allow },
        egress: { lookup: async () => [address] },
      })
      const before = web.connected
      const { stdout, egress } = await succeed(
        executor,
        program(`show(fetch("http://${HOST}:${web.port}/hello")[:3])`),
      )
      expect([stdout, egress?.[0]?.denial?.code, web.connected]).toEqual(["403\n", "PRIVATE_ADDRESS", before])
    }
  })

  it("gives neither proxy nor variables without one", async () => {
    await using executor = docker({ pool: false })
    const { stdout, egress } = await succeed(
      executor,
      program(`print([name for name in os.environ if "proxy" in name.lower()])
try: proxy(); print("OPEN")
except ConnectionRefusedError: print("refused")`),
    )
    expect([stdout, egress]).toEqual(["[]\nrefused\n", undefined])
  })

  it("tells of each connection as it happens, in the order of the run", async () => {
    await using executor = docker({ pool: false, ...reaching(web.port) })
    const events = await eventsOf(
      executor.stream([
        program(`show(fetch("http://${HOST}:${web.port}/hello")); show(fetch("http://evil.test/"))`),
      ]),
    )
    const told = events.map((event) =>
      event.type === "egress" ? `${event.state} ${event.connection.host}` : event.type,
    )
    expect(told.filter((text) => text !== "stdout")).toEqual([
      "started",
      "block-started",
      `opened ${HOST}`,
      `closed ${HOST}`,
      "denied evil.test",
      "block-finished",
      "finished",
    ])
    const closed = events.find((event) => event.type === "egress" && event.state === "closed")
    const finished = events.at(-1)
    expect(closed?.type === "egress" && finished?.type === "finished").toBe(true)
    if (closed?.type !== "egress" || finished?.type !== "finished") return
    expect(finished.result.egress?.[0]).toEqual(closed.connection)
  })

  it("speaks SOCKS5 too, by the same rules", async () => {
    await using server = await echoServer()
    const network = {
      allow: [{ to: `${HOST}:${server.port}`, protocol: "tcp" as const }, `${HOST}:${web.port}`],
    }
    const options = reaching(server.port, {}, network)
    const allowPrivate = [server.port, web.port].map((port) => `127.0.0.1:${port}`)
    await using executor = docker({ pool: false, ...options, network: { ...options.network, allowPrivate } })
    const { stdout, egress } = await succeed(
      executor,
      program(`with socks("${HOST}", ${server.port}) as echo:
    echo.sendall(b"ping"); show(echo.recv(4))
with socks("${HOST}", ${web.port}) as web:
    web.sendall(b"GET /hello HTTP/1.1\\r\\nHost: ${HOST}:${web.port}\\r\\nConnection: close\\r\\n\\r\\n")
    show(read_all(web).split(b"\\r\\n\\r\\n")[1])
for host, port in (("evil.test", 80), ("${HOST}", 1), ("evil.test\\0.${HOST}", ${web.port})):
    try: socks(host, port); print("OPEN")
    except OSError as error: print(error)`),
    )
    expect(stdout).toBe(`ping
hello from ${HOST}:${web.port}
SOCKS reply 2
SOCKS reply 2
SOCKS reply 1
`)
    expect(verdicts(egress)).toEqual([
      `socks5 ${HOST}:${server.port} allowed`,
      `socks5 ${HOST}:${web.port} allowed`,
      "socks5 evil.test:80 denied NOT_ALLOWED",
      `socks5 ${HOST}:1 denied PORT`,
      expect.stringMatching(/^socks5 .* denied BAD_HOST$/),
    ])
    expect(egress?.[0]).toMatchObject({ bytesUp: 4, bytesDown: 4 })
  })

  describe("with TLS", () => {
    let folder = ""
    let secure: TestServer
    let certificate = ""
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "gb-egress-"))
      const key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem"
      const subject = `-subj /CN=${HOST} -addext subjectAltName=DNS:${HOST},DNS:other.test`
      await run("openssl", `req -x509 ${key} -out cert.pem -days 2 ${subject}`.split(" "), { cwd: folder })
      certificate = await readFile(join(folder, "cert.pem"), "utf8")
      const options = { cert: certificate, key: await readFile(join(folder, "key.pem"), "utf8") }
      secure = await listening(createSecureServer(options, answer))
    })
    afterAll(async () => {
      await secure[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    })

    it("passes what names the host, and refuses another name, none, and what is not TLS", async () => {
      await using executor = docker({ pool: false, ...reaching(secure.port) })
      const good = await succeed(
        executor,
        program(`context = ssl.create_default_context(cadata='''${certificate}''')
show(fetch("https://${HOST}:${secure.port}/hello", context=context))`),
      )
      expect(good.stdout).toBe(`hello from ${HOST}:${secure.port}\n`)
      expect(verdicts(good.egress)).toEqual([`connect ${HOST}:${secure.port} allowed`])
      await secure.whenLeft()
      const heard = secure.heard
      const { stdout, egress } = await succeed(
        executor,
        program(`context = ssl.create_default_context(cadata='''${certificate}''')
context.check_hostname = False
for name in ("other.test", None):
    try: context.wrap_socket(connect("${HOST}", ${secure.port}), server_hostname=name); print("OPEN")
    except ssl.SSLError as error: print(error.reason)
plain = connect("${HOST}", ${secure.port})
plain.sendall(b"\\0\\1\\2 not TLS")
print(read_all(plain))`),
      )
      expect(stdout).toBe("TLSV1_UNRECOGNIZED_NAME\nTLSV1_UNRECOGNIZED_NAME\nb''\n")
      expect(verdicts(egress)).toEqual(
        ["TLS_WRONG_NAME", "TLS_NO_SNI", "PROTOCOL"].map(
          (code) => `connect ${HOST}:${secure.port} denied ${code}`,
        ),
      )
      // Not one byte of it went up.
      expect(secure.heard).toBe(heard)
    })
  })
})
