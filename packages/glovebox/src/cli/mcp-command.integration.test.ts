import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { buildCommand, ended, glovebox, startGlovebox, useOwnFolder } from "./glovebox.test-kit.ts"
import {
  MAKE_PICTURE,
  type McpClient,
  connectMcp,
  sessionFolders,
  startMcp,
  textOf,
  useOwnTemporaryFolder,
} from "./mcp-client.test-kit.ts"

let removeFolder = async (): Promise<void> => {}
let leave = async (): Promise<void> => {}

beforeAll(async () => {
  await buildCommand()
  removeFolder = await useOwnTemporaryFolder()
  leave = await useOwnFolder()
})

afterAll(async () => {
  await leave()
  await removeFolder()
})

describe("glovebox mcp with the embedded sandbox", () => {
  let at: McpClient

  beforeAll(async () => {
    at = await startMcp("--sandbox", "wasm", "--timeout", "7s")
  })

  afterAll(async () => at[Symbol.asyncDispose]())

  it("serves tools to run code and to handle files, and says what the sandbox is", async () => {
    const { tools } = await at.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      "run_code",
      "list_files",
      "read_file",
      "write_file",
      "get_artifact",
    ])
    expect(at.client.getInstructions()).toMatch(
      /interpreters in WebAssembly.*may take 7s and 512MiB.*no network/,
    )
    expect(tools[0]?.inputSchema.properties?.["language"]).toMatchObject({
      enum: ["python", "javascript", "typescript"],
    })
  })

  it("runs code whose files stay, and gives pictures as pictures", async () => {
    expect(await at.call("write_file", { path: "data/in.txt", content: "6 7" })).toMatchObject({
      content: [{ text: "data/in.txt is written: 3 bytes." }],
    })
    const code =
      "a, b = open('data/in.txt').read().split()\nprint(int(a) * int(b))\nopen('out.bin', 'wb').write(b'\\0\\1')"
    const ran = await at.call("run_code", { code })
    expect(ran.isError).toBe(false)
    expect(textOf(ran)).toBe("42\n\nFiles made or changed: out.bin (2 bytes).")
    expect(textOf(await at.call("run_code", { code: MAKE_PICTURE }))).toMatch(
      /dot\.png \(\d+ bytes\)\.\n\[image\]$/,
    )
    expect(textOf(await at.call("list_files"))).toMatch(/^data\/in\.txt\t3\ndot\.png\t\d+\nout\.bin\t2$/)
    const { content } = await at.call("get_artifact", { path: "dot.png" })
    expect(content).toMatchObject([{ type: "image", mimeType: "image/png" }])
    expect((await at.call("get_artifact", { path: "out.bin" })).content).toMatchObject([
      { type: "resource", resource: { blob: "AAE=" } },
    ])
    expect((await at.call("get_artifact", { path: "data/in.txt" })).content).toMatchObject([
      { resource: { text: "6 7" } },
    ])
    expect(textOf(await at.call("read_file", { path: "data/in.txt" }))).toBe("6 7")
    expect(await at.call("read_file", { path: "out.bin" })).toMatchObject({ isError: true })
  })

  it("reads long files in parts, and takes files that are no text", async () => {
    await at.call("write_file", { path: "lines", content: "a\nb\nc\nd" })
    expect(textOf(await at.call("read_file", { path: "lines", offset: 1, limit: 2 }))).toBe(
      "b\nc\n[1 more lines; go on with offset 3]",
    )
    await at.call("write_file", { path: "bytes", content: "/wA=", encoding: "base64" })
    expect(textOf(await at.call("run_code", { code: "print(list(open('bytes', 'rb').read()))" }))).toContain(
      "[255, 0]",
    )
    expect(await at.call("write_file", { path: "bytes", content: "?", encoding: "base64" })).toMatchObject({
      isError: true,
    })
  })

  it("tells what is wrong so that it can be put right, and nothing leads out", async () => {
    const failed = await at.call("run_code", { code: "import sys\nprint('half')\nsys.exit(3)" })
    expect(failed.isError).toBe(true)
    expect(textOf(failed)).toBe("half\n\nIt ended with exit code 3.")
    for (const path of ["../x", "/etc/passwd"]) {
      for (const [name, args] of [
        ["read_file", {}],
        ["get_artifact", {}],
        ["write_file", { content: "x" }],
      ] as const) {
        const refused = await at.call(name, { path, ...args })
        expect(refused.isError, `${name} ${path}`).toBe(true)
        expect(textOf(refused)).toContain("is refused")
      }
    }
  })

  it("shows output while the code runs", async () => {
    const seen: (string | undefined)[] = []
    const code = "import time\nfor n in range(3):\n  print('tick', n, flush=True)\n  time.sleep(0.3)"
    await at.client.callTool(
      { name: "run_code", arguments: { code } },
      { onprogress: ({ message }) => void seen.push(message) },
    )
    expect(seen.length).toBeGreaterThan(1)
    expect(seen.join("")).toBe("tick 0\ntick 1\ntick 2\n")
  })

  it("ends the code when the call is cancelled, and the session goes on", async () => {
    const controller = new AbortController()
    const call = at.client.callTool(
      { name: "run_code", arguments: { code: "print('on', flush=True)\nwhile True: pass" } },
      { signal: controller.signal, onprogress: () => controller.abort() },
    )
    await expect(call).rejects.toThrow(/abort/i)
    expect(textOf(await at.call("run_code", { code: "print('again')" }))).toBe("again")
  })
})

describe("glovebox mcp", () => {
  it("keeps to the operator's policy, whatever a caller asks for", async () => {
    await using at = await startMcp("--sandbox", "wasm", "--timeout", "1s")
    const slow = await at.call("run_code", { code: "while True: pass" })
    expect(textOf(slow)).toContain("it may run for 1s")
    for (const extra of [{ timeout: 999 }, { policy: { network: "all" } }, { workDir: "/" }]) {
      expect(await at.call("run_code", { code: "print(1)", ...extra })).toMatchObject({ isError: true })
    }
    expect(await at.call("run_code", { code: "echo hi", language: "sh" })).toMatchObject({ isError: true })
  })

  it("reads its policy once, which a caller who can write the file therefore cannot change", async () => {
    const workDir = await mkdtemp(join(tmpdir(), "glovebox-work-"))
    const policy = join(workDir, "policy.json")
    await writeFile(policy, JSON.stringify({ limits: { wall: "1s" } }))
    try {
      await using at = await startMcp(
        "--sandbox",
        "wasm",
        "--policy",
        policy,
        "--work-dir",
        workDir,
        "--idle",
        "300ms",
      )
      await at.call("write_file", { path: "policy.json", content: '{"limits":{"wall":"60s"}}' })
      const listing = async (): Promise<string> => textOf(await at.call("list_files"))
      // Each look is a call, which an idle session outlives only when the next comes late.
      await expect.poll(listing, { timeout: 30_000, interval: 600 }).toContain("a new one made")
      expect(textOf(await at.call("run_code", { code: "while True: pass" }))).toContain("it may run for 1s")
    } finally {
      await rm(workDir, { recursive: true })
    }
  })

  it("ends an idle session with its files, and says so with the next call", async () => {
    const before = await sessionFolders()
    await using at = await startMcp("--sandbox", "wasm", "--idle", "500ms")
    await at.call("write_file", { path: "a.txt", content: "a" })
    await expect.poll(sessionFolders, { timeout: 30_000 }).toEqual(before)
    expect(textOf(await at.call("list_files"))).toMatch(
      /^No call came for 500ms.*Files of before are gone\.\nThere are no files\.$/,
    )
    expect(textOf(await at.call("list_files"))).not.toContain("No call came")
  })

  it("keeps variables in a session, and files in a folder that is named", async () => {
    await using at = await startMcp("--sandbox", "wasm", "--isolation", "session")
    await at.call("run_code", { code: "x = 41" })
    expect(textOf(await at.call("run_code", { code: "print(x + 1)" }))).toBe("42")
  })

  it("leaves nothing behind when its client goes", async () => {
    const before = await sessionFolders()
    const child = startGlovebox("mcp", "--sandbox", "wasm")
    const closed = ended(child)
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    }
    const call = {
      jsonrpc: "2.0",
      id: 2,
      method: "tools/call",
      params: { name: "run_code", arguments: { code: "while True: pass" } },
    }
    child.stdin.write(`${JSON.stringify(initialize)}\n`)
    await once(child.stdout, "data")
    child.stdin.write(
      `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n${JSON.stringify(call)}\n`,
    )
    await expect.poll(sessionFolders, { timeout: 30_000 }).toHaveLength(before.length + 1)
    child.stdin.end()
    const { stdout, ...end } = await closed
    expect(end).toEqual({ code: 0, stderr: "" })
    // Nothing but the protocol.
    for (const line of stdout.trim().split("\n")) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" })
    expect(await sessionFolders()).toEqual(before)
  })

  it("refuses a wrong command line, the host itself, and a policy that does not fit", async () => {
    expect(await glovebox(["mcp", "--sandbox", "local"])).toMatchObject({ code: 2 })
    expect(await glovebox(["mcp", "--http", "99999"])).toMatchObject({ code: 2 })
    expect(await glovebox(["mcp", "--policy", "/nonexistent.yaml"])).toMatchObject({ code: 1, stdout: "" })
  })
})

describe("glovebox mcp --http", () => {
  const token = "0123456789abcdef0123"

  async function listen(...args: string[]): Promise<{ url: string; wrote: string } & AsyncDisposable> {
    const child = startGlovebox("mcp", "--sandbox", "wasm", "--http", "0", ...args)
    const exited = once(child, "exit")
    let wrote = ""
    child.stderr.setEncoding("utf8").on("data", (text: string) => (wrote += text))
    await expect.poll(() => wrote, { timeout: 30_000 }).toContain("\n")
    return {
      url: /http:\S+\/mcp/.exec(wrote)?.[0] ?? wrote,
      wrote,
      [Symbol.asyncDispose]: async () => {
        child.kill("SIGTERM")
        const [code] = (await exited) as [number | null]
        expect(code).toBe(0)
      },
    }
  }

  it("gives each client that knows the token a sandbox of its own", async () => {
    process.env["GLOVEBOX_MCP_TOKEN"] = token
    await using at = await listen("--max-sessions", "2")
    expect(at.wrote).toContain("that of GLOVEBOX_MCP_TOKEN")
    expect(at.wrote).not.toContain(token)
    await using one = await connectMcp(at.url, token)
    await using two = await connectMcp(at.url, token)
    await one.call("write_file", { path: "mine", content: "1" })
    expect(textOf(await one.call("run_code", { code: "print(open('mine').read())" }))).toBe("1")
    expect(textOf(await two.call("list_files"))).toBe("There are no files.")
    await expect(connectMcp(at.url, token)).rejects.toThrow(/as many sessions as there may be/)
    await two.end()
    await using three = await connectMcp(at.url, token)
    expect(textOf(await three.call("list_files"))).toBe("There are no files.")
  })

  it("streams progress and ends what is cancelled", async () => {
    process.env["GLOVEBOX_MCP_TOKEN"] = token
    await using at = await listen()
    await using one = await connectMcp(at.url, token)
    const controller = new AbortController()
    const seen: unknown[] = []
    const call = one.client.callTool(
      { name: "run_code", arguments: { code: "print('on', flush=True)\nwhile True: pass" } },
      {
        signal: controller.signal,
        onprogress: ({ message }) => {
          seen.push(message)
          controller.abort()
        },
      },
    )
    await expect(call).rejects.toThrow(/abort/i)
    expect(seen).toEqual(["on\n"])
    expect(textOf(await one.call("run_code", { code: "print('again')" }))).toBe("again")
  })

  it("makes a token up, and answers to nothing else", async () => {
    delete process.env["GLOVEBOX_MCP_TOKEN"]
    await using at = await listen()
    const own = /the token is (\S+)/.exec(at.wrote)?.[1] ?? ""
    expect(own.length).toBeGreaterThan(40)
    await using one = await connectMcp(at.url, own)
    expect((await one.client.listTools()).tools.length).toBeGreaterThan(3)
    const status = async (headers: Record<string, string>, url = at.url): Promise<number> =>
      (await fetch(url, { method: "POST", headers, body: "{}" })).status
    expect(await status({})).toBe(401)
    expect(await status({ authorization: `Bearer ${token}` })).toBe(401)
    const authorization = `Bearer ${own}`
    expect(await status({ authorization, origin: "https://evil.example" })).toBe(403)
    expect(await status({ authorization }, at.url.replace("/mcp", "/other"))).toBe(404)
    expect(await status({ authorization, "mcp-session-id": "x" })).toBe(404)
  })

  it("forgets a client that does not call, and its sandbox", async () => {
    process.env["GLOVEBOX_MCP_TOKEN"] = token
    const before = await sessionFolders()
    await using at = await listen("--idle", "2s")
    await using one = await connectMcp(at.url, token)
    await one.call("write_file", { path: "mine", content: "1" })
    await expect.poll(sessionFolders, { timeout: 30_000 }).toEqual(before)
    await expect(one.call("list_files")).rejects.toThrow(/session has ended/i)
  })

  it("refuses a short token", async () => {
    const refused = await glovebox(["mcp", "--sandbox", "wasm", "--http", "0"], "", {
      GLOVEBOX_MCP_TOKEN: "tiny-token",
    })
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain("too short")
    expect(refused.stderr).not.toContain("tiny-token")
  })
})
