import type { StdioServerParams } from "./index.ts"

/** A server that speaks the protocol by hand, so that it can break it: what it does with a call is `CALL`, with a list `LIST`. */
const SOURCE = `
const { CALL = "", LIST = "", INIT = "" } = process.env
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n")
const says = (id, text) => send({ id, result: { content: [{ type: "text", text }] } })
const run = (code, values) => new Function(...Object.keys(values), code)(...Object.values(values))
let rest = ""
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\\n")
  rest = lines.pop()
  for (const line of lines) answer(JSON.parse(line))
})
process.stdin.on("end", () => process.exit())
function answer({ id, method, params }) {
  const values = { id, params, send, says }
  const serverInfo = { name: "hostile", version: "1" }
  if (method === "initialize")
    return INIT ? run(INIT, values) : send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } })
  if (method === "tools/list")
    return LIST ? run(LIST, values) : send({ id, result: { tools: [{ name: "act", inputSchema: { type: "object" } }] } })
  if (method === "tools/call") run(CALL, values)
}
`

export function hostileServer(env: {
  readonly INIT?: string
  readonly LIST?: string
  readonly CALL?: string
}): StdioServerParams {
  return { command: process.execPath, args: ["-e", SOURCE], env }
}
