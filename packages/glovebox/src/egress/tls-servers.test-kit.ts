import { generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import type { RequestListener } from "node:http"
import { type Server, createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { connect } from "node:tls"
import { makeCertificate } from "./certificate.ts"
import { ESTABLISHED } from "./egress-gate.test-kit.ts"
import type { TestGate } from "./egress-gate.test-kit.ts"

const HOUR_MS = 3_600_000

/** A web server with TLS, and the test's own authority, which vouches for it. */
export interface SecureServer extends AsyncDisposable {
  readonly port: number
  /** The authority, as PEM. */
  readonly ca: string
  /** The same list for all: a gate reads one only once. */
  readonly authorities: readonly string[]
}

const keys = generateKeyPairSync("ec", { namedCurve: "P-256" })
const issuer = { name: "An authority of the test", ...keys }
const YEAR_MS = 365 * 24 * HOUR_MS
const ca = makeCertificate({
  key: keys.publicKey,
  name: issuer.name,
  issuer,
  from: new Date(Date.now() - YEAR_MS),
  until: new Date(Date.now() + YEAR_MS),
})
const authorities = [ca]

/** Serves as a host of this name, with a certificate for the time around now or, if it says so, before it. */
export async function secureServer(
  answer: RequestListener,
  { host = "allowed.test", until = new Date(Date.now() + HOUR_MS) } = {},
): Promise<SecureServer> {
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const from = new Date(Date.now() - 2 * HOUR_MS)
  const cert = makeCertificate({ key: own.publicKey, name: host, host, issuer, from, until })
  const key = own.privateKey.export({ type: "pkcs8", format: "pem" })
  const server: Server = createServer({ cert, key }, answer)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    port,
    ca,
    authorities,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

export interface SecureAsk {
  readonly host?: string
  readonly port: number
  /** Whom the client trusts. */
  readonly ca: string | undefined
  readonly text: string
}

/** What comes back to a client that asks through the gate by TLS, and who vouched for the server that it sees. */
export async function askSecurely(
  gate: TestGate,
  { host = "allowed.test", port, ca, text }: SecureAsk,
): Promise<{ readonly answer: string; readonly issuer: string }> {
  const client = await gate.connect()
  client.send(`CONNECT ${host}:${port} HTTP/1.1\r\n\r\n`)
  await client.until(ESTABLISHED)
  client.socket.removeAllListeners("data")
  const secure = connect({ socket: client.socket, servername: host, ca, ALPNProtocols: ["http/1.1"] })
  await once(secure, "secureConnect")
  const issuer = String(secure.getPeerCertificate().issuer.CN)
  secure.write(text)
  let answer = ""
  secure.on("data", (data: Buffer) => (answer += data.toString("latin1")))
  await Promise.race([once(secure, "end"), once(secure, "close")])
  secure.destroy()
  return { answer, issuer }
}
