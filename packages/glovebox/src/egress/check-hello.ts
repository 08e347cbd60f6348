import { type Host, describeTarget, readHost } from "../policy/index.ts"
import type { ByteStream } from "./byte-stream.ts"
import { type ClientHello, readClientHello } from "./client-hello.ts"
import { Refusal, printable } from "./refusal.ts"

/** Reads a ClientHello without taking it away. Throws Refusal when it is none. */
export async function peekClientHello(stream: ByteStream, rule: string): Promise<ClientHello> {
  const chunks: Buffer[] = []
  let length = 0
  let wanted = 1
  for (;;) {
    const chunk = await stream.read()
    if (!chunk) throw notTls("is cut off", rule)
    chunks.push(chunk)
    length += chunk.length
    // Not looked at before there is more to see: a client may send byte by byte.
    if (length < wanted) continue
    const all = chunks.length === 1 ? chunk : Buffer.concat(chunks)
    chunks.splice(0, chunks.length, all)
    const read = readClientHello(all)
    if ("fault" in read) throw notTls(read.fault, rule)
    if ("hello" in read) {
      stream.unread(all)
      return read.hello
    }
    wanted = read.needs
  }
}

/** Throws Refusal unless the client says to the server what it said to the gate. */
export function checkHello(
  { names, isEncrypted }: ClientHello,
  host: Host,
  port: number,
  rule: string,
): void {
  const asked = describeTarget({ host, isWildcard: false, port })
  if (isEncrypted)
    throw new Refusal(
      "TLS_HIDDEN",
      `The TLS client hides the name of its server (Encrypted Client Hello) from the gate, which lets ${asked} through.`,
      "Turn Encrypted Client Hello off in the client.",
      { rule },
    )
  if (host.kind === "address") {
    if (names === undefined) return
    throw wrongName(
      `The connection is for the address ${asked}, and TLS asks for ${said(names)}.`,
      asked,
      rule,
    )
  }
  if (names === undefined)
    throw new Refusal(
      "TLS_NO_SNI",
      `The TLS client does not say (by SNI) that it wants ${host.text}.`,
      `Let the client send the server name ${host.text}.`,
      { rule },
    )
  const [name, ...others] = names
  const read = readHost(name ?? "")
  if (others.length > 0 || "fault" in read || read.host.kind !== "name" || read.host.text !== host.text)
    throw wrongName(`The connection is for ${asked}, and TLS asks for ${said(names)}.`, asked, rule)
}

function said(names: readonly string[]): string {
  return names.length === 0 ? "no name" : printable(names.join(", "))
}

function wrongName(message: string, asked: string, rule: string): Refusal {
  return new Refusal("TLS_WRONG_NAME", message, `Use the same name in TLS as in the request for ${asked}.`, {
    rule,
  })
}

function notTls(fault: string, rule: string): Refusal {
  return new Refusal(
    "PROTOCOL",
    `What the client sent as TLS ${fault}.`,
    "Speak HTTP or TLS as usual clients do, or ask for the rule to have protocol: tcp.",
    { rule },
  )
}
