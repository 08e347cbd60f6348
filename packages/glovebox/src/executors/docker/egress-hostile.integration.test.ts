import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { begin, rejectionOf, stillWorks, succeed, within } from "../../testing/expectations.ts"
import { programsIn, python } from "../../testing/programs.ts"
import { HAS_NO_DOCKER, docker } from "./docker-subject.test-kit.ts"
import { program } from "./egress-programs.test-kit.ts"
import {
  HOST,
  type TestServer,
  echoServer,
  holdingServer,
  reaching,
  sampleBytes,
  sha256,
  tcpServer,
  webServer,
} from "./egress-servers.test-kit.ts"
import { eventually } from "./eventually.test-kit.ts"

const { print } = programsIn(["python"])
const MiB = 1024 ** 2

/** Programs that never end by themselves, and what they do. */
const ATTACKS: readonly (readonly [name: string, code: string])[] = [
  ["floods the port with connections", `while True:\n    one = proxy()\n    one.close()`],
  [
    "opens 2000 and holds them",
    `import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
held = []
for _ in range(2000):
    try: held.append(proxy())
    except OSError: break
time.sleep(60)`,
  ],
  [
    "asks for many and reads none of them",
    `held = []
while True:
    one = proxy(); held.append(one)
    one.sendall(b"GET http://${HOST}:PORT/zeros/100000000 HTTP/1.1\\r\\nHost: ${HOST}:PORT\\r\\n\\r\\n")
    if len(held) == 200: time.sleep(60)`,
  ],
  [
    "sends and never reads",
    `import threading
def send():
    try:
        one = proxy()
        one.sendall(b"POST http://${HOST}:PORT/silent HTTP/1.1\\r\\nHost: ${HOST}:PORT\\r\\nContent-Length: 1000000000000\\r\\n\\r\\n")
        while True: one.sendall(bytes(1 << 20))
    except OSError: pass
for _ in range(20): threading.Thread(target=send).start()`,
  ],
  [
    "sends requests and takes no answers",
    `one = proxy()
one.setblocking(False)
while True:
    try: proxy().sendall(b"CONNECT evil.test:443 HTTP/1.1\\r\\n\\r\\n" * 1000)
    except OSError: pass`,
  ],
]

/** How much this process's memory grows at most while something runs. */
async function growthDuring(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss()
  let peak = before
  const sampling = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 10)
  try {
    await work()
  } finally {
    clearInterval(sampling)
  }
  return peak - before
}

describe.skipIf(HAS_NO_DOCKER)("connections through an allow-list", () => {
  let web: TestServer
  let url = ""
  beforeAll(async () => {
    web = await webServer()
    url = `http://${HOST}:${web.port}`
  })
  afterAll(async () => web[Symbol.asyncDispose]())

  it("carry 20 MB up and down as they are, and hold both ends to their pace", async () => {
    await using executor = docker({ pool: false, ...reaching(web.port) })
    const size = 20_000_000
    const { stdout, egress } = await succeed(
      executor,
      program(`data = fetch("${url}/bytes/${size}")
show(hashlib.sha256(data).hexdigest())
show(fetch("${url}/upload", data))`),
    )
    const hash = sha256(sampleBytes(size))
    expect(stdout).toBe(`${hash}\n${size} ${hash}\n`)
    expect(egress?.[0]?.bytesDown).toBeGreaterThan(size)
    expect(egress?.[1]?.bytesUp).toBeGreaterThan(size)
  })

  it("can be half-closed from either side", async () => {
    let told = ""
    await using first = await echoServer()
    await using last = await tcpServer((socket) => {
      socket.end("done")
      socket.on("data", (bytes: Buffer) => (told += bytes.toString()))
    })
    const allow = [first.port, last.port].map((port) => ({ to: `${HOST}:${port}`, protocol: "tcp" as const }))
    const allowPrivate = [first.port, last.port].map((port) => `127.0.0.1:${port}`)
    await using executor = docker({ pool: false, ...reaching(0, {}, { allow, allowPrivate }) })
    const { stdout, egress } = await succeed(
      executor,
      program(`import threading
one = connect("${HOST}", ${first.port})
data = os.urandom(1 << 20)
threading.Thread(target=lambda: (one.sendall(data), one.shutdown(socket.SHUT_WR))).start()
print(read_all(one) == data)
two = connect("${HOST}", ${last.port})
show(read_all(two))
two.sendall(b"still heard")
two.close()`),
    )
    expect(stdout).toBe("True\ndone\n")
    await Promise.all([first.whenLeft(), last.whenLeft()])
    expect([told, egress?.[0]?.ended]).toEqual(["still heard", "client"])
  })

  it("that speak garbage are ended, and those beside them work", async () => {
    await using executor = docker({ pool: false, ...reaching(web.port) })
    const { stdout, egress } = await succeed(
      executor,
      program(`garbage = [b"\\0" * 1000, os.urandom(5000), b"\\x04\\x01\\0\\x50\\x7f\\0\\0\\1\\0", b"\\x05\\xff" + b"\\1" * 255,
    b"GET / HTTP/1.1\\r\\n\\r\\n", b"\\x16\\x03\\x01\\xff\\xff" + b"x" * 70000, b"CONNECT \\r\\n\\r\\n", b"GET http://${HOST}:${web.port}/hello HTTP/1.1\\r\\n" + b"a: " + b"b" * 100000 + b"\\r\\n\\r\\n"]
for bytes_ in garbage:
    one = proxy()
    try: one.sendall(bytes_); one.shutdown(socket.SHUT_WR)
    except OSError: pass
    answer = read_all(one)
    assert b"hello" not in answer, answer
show(fetch("${url}/hello"))`),
    )
    expect(stdout).toBe(`hello from ${HOST}:${web.port}\n`)
    expect(egress?.filter(({ verdict }) => verdict === "allowed")).toHaveLength(1)
  })

  describe("of a program that is killed", () => {
    const holding = (port: number, count: number, then: string): ReturnType<typeof program> =>
      program(`kept = [connect("${HOST}", ${port}) for _ in range(${count})]\nshow("open")\n${then}`)

    it.each(["run", "session"] as const)("end with it, in isolation by %s", async (isolation) => {
      await using server = await echoServer()
      await using executor = docker({
        pool: false,
        isolation,
        ...reaching(server.port, { protocol: "tcp" }),
      })
      const { termination, egress } = await executor.executeCodeBlocks([
        holding(server.port, 50, "os.kill(os.getpid(), 9)"),
      ])
      expect([termination, server.connected, egress?.length]).toEqual(["signal", 50, 50])
      await server.whenLeft()
      await stillWorks(executor, print)
    })

    it("end with it at its deadline, however deaf the server is", async () => {
      await using server = await holdingServer()
      await using executor = docker({
        pool: false,
        timeout: "2s",
        ...reaching(server.port, { protocol: "tcp" }),
      })
      const { termination } = await executor.executeCodeBlocks([holding(server.port, 50, "time.sleep(60)")])
      expect(termination).toBe("timeout")
      expect(server.connected).toBeGreaterThan(0)
      await server.whenLeft()
    })

    it("end with it when it is cancelled", async () => {
      await using server = await holdingServer()
      await using executor = docker({ pool: false, ...reaching(server.port, { protocol: "tcp" }) })
      const controller = new AbortController()
      const { signal } = controller
      const { result, spoke } = begin(executor, [holding(server.port, 50, "time.sleep(60)")], { signal })
      const rejection = rejectionOf(result)
      await spoke
      expect(server.open.size).toBe(50)
      controller.abort(new Error("enough"))
      await rejection
      await server.whenLeft()
    })
  })

  it("of programs that mean harm cost this process little; each ends by its limits, and the next call works", async () => {
    await using executor = docker({ pool: false, timeout: "3s", concurrency: 5, ...reaching(web.port) })
    const growth = await growthDuring(async () => {
      const ends = ATTACKS.map(async ([name, code]) => {
        const { termination } = await executor.executeCodeBlocks([
          program(code.replaceAll("PORT", String(web.port))),
        ])
        return [name, termination]
      })
      const expected = ATTACKS.map(([name]) => [name, "timeout"])
      expect(await within(Promise.all(ends), 30, "the runs")).toEqual(expected)
    })
    expect(growth).toBeLessThan(300 * MiB)
    await web.whenLeft()
    const next = succeed(executor, program(`show(fetch("${url}/hello")[:5])`))
    expect((await within(next, 20, "the next")).stdout).toBe("hello\n")
  })

  it("of a session's earlier block are no files of the next one, by fork or by exec", async () => {
    await using server = await holdingServer()
    await using executor = docker({ isolation: "session", ...reaching(server.port, { protocol: "tcp" }) })
    await succeed(executor, program(`kept = [connect("${HOST}", ${server.port}) for _ in range(100)]`))
    const list = python(`import gc, os
files = set()
for name in os.listdir("/proc/self/fd"):
    try: files.add((int(name), os.readlink("/proc/self/fd/" + name)))
    except OSError: pass
print("fork" if gc.get_freeze_count() else "exec", sorted(file for file in files if file[0] > 2))`)
    const { stdout: byExec } = await succeed(executor, {
      language: "sh",
      code: `python3 - <<'EOF'\n${list.code}\nEOF`,
    })
    expect(byExec).toBe("exec []\n")
    // The interpreter gets ready while nothing runs.
    let byFork = ""
    await eventually("a fork", async () => {
      byFork = (await succeed(executor, list)).stdout
      return byFork.startsWith("fork")
    })
    expect(byFork).toBe("fork []\n")
    await server.whenLeft()
  })

  it("cost this process little memory, however many there are at once", async () => {
    await using executor = docker({ pool: false, ...reaching(web.port) })
    const growth = await growthDuring(async () => {
      const { stdout } = await succeed(
        executor,
        program(`from concurrent.futures import ThreadPoolExecutor
def download(_):
    size = 0
    with urllib.request.urlopen("${url}/zeros/3000000", timeout=50) as answer:
        while piece := answer.read(1 << 16): size += len(piece)
    return size
with ThreadPoolExecutor(32) as pool: print(set(pool.map(download, range(32))))`),
      )
      expect(stdout).toBe("{3000000}\n")
    })
    expect(growth).toBeLessThan(100 * MiB)
  })
})
