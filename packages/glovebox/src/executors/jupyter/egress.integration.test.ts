import { describe, expect, it } from "vitest"
import { program } from "../docker/egress-programs.test-kit.ts"
import { HOST, echoServer, reaching, webServer } from "../docker/egress-servers.test-kit.ts"
import { HAS_NO_DOCKER, bash, cell, jupyter } from "./jupyter-subject.test-kit.ts"

describe.skipIf(HAS_NO_DOCKER)("an allow-list in a notebook", () => {
  it("holds for cells and for programs beside them", async () => {
    await using web = await webServer()
    await using executor = jupyter(reaching(web.port))
    const url = `http://${HOST}:${web.port}/hello`
    const { stdout, egress, sandbox } = await executor.executeCodeBlocks([
      program(`show(fetch("${url}")); show(fetch("http://evil.test/"))
try: socket.create_connection(("10.0.0.1", 80), 20)
except OSError as error: print(error.strerror)
print([name for _, name in socket.if_nameindex()])`),
      bash(`python3 -c 'import urllib.request; print(urllib.request.urlopen("${url}").read().decode())'`),
    ])
    const hello = `hello from ${HOST}:${web.port}\n`
    expect(stdout)
      .toBe(`${hello}403 Denied by Glovebox: evil.test:80 is not in network.allow | evil.test:80 is not in network.allow.
Do without evil.test, or ask for "evil.test:80" to be added to network.allow.

Network is unreachable
['lo']
${hello}`)
    expect(egress?.map(({ verdict, host }) => `${host} ${verdict}`)).toEqual([
      `${HOST} allowed`,
      "evil.test denied",
      `${HOST} allowed`,
    ])
    expect(sandbox.effective?.["network"]).toBe("none")
  })

  it("lets a connection live on from cell to cell, with all its bytes in each record, and ends it when it is no longer allowed", async () => {
    await using server = await echoServer()
    await using executor = jupyter(reaching(server.port, { protocol: "tcp" }))
    const first = await executor.executeCodeBlocks([
      program(`kept = connect("${HOST}", ${server.port})
kept.sendall(b"one"); show(kept.recv(3)); show(fetch("http://evil.test/")[:3])`),
    ])
    expect([first.stdout, first.egress?.map(({ id, ended }) => [id, ended])]).toEqual([
      "one\n403\n",
      [
        [1, undefined],
        [2, "policy"],
      ],
    ])
    const second = await cell(executor, `kept.sendall(b"two"); print(kept.recv(3).decode())`)
    expect(second.stdout).toBe("two\n")
    expect(second.egress).toMatchObject([{ id: 1, bytesUp: 6, bytesDown: 6 }])
    executor.tightenNetwork("none")
    await server.whenLeft()
    const third = await cell(executor, `print(read_all(kept))`)
    expect(third.stdout).toMatch(/^b'(ConnectionResetError)?'\n$/)
    expect(third.egress).toMatchObject([{ id: 1, ended: "policy" }])
  })
})
