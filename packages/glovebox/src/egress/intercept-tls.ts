import { isIP } from "node:net"
import { type SecureContext, TLSSocket, connect, createSecureContext, rootCertificates } from "node:tls"
import type { Host } from "../policy/index.ts"
import { watchAbort } from "../internal/watch-abort.ts"
import { ByteDuplex } from "./byte-duplex.ts"
import { ByteStream, StreamGone } from "./byte-stream.ts"
import type { CertificateAuthority } from "./certificate-authority.ts"
import { Refusal } from "./refusal.ts"
import { timeouts } from "./timeouts.ts"

// What is read afterwards; others have no requests that the gate could see.
const ALPN = ["http/1.1"]

/** Is the server of a client that wants TLS with this host; resolves when they have agreed. Throws StreamGone. */
export async function acceptTls(
  client: ByteStream,
  host: Host,
  authority: CertificateAuthority,
  signal: AbortSignal,
): Promise<ByteStream> {
  const socket = new TLSSocket(new ByteDuplex(client), {
    isServer: true,
    secureContext: authority.contextFor(host.text),
    ALPNProtocols: ALPN,
    // Not the socket's own: nothing of what was said before counts in a new connection.
    requestCert: false,
  })
  const failure = await agreed(socket, "secure", signal)
  if (failure !== undefined) throw new StreamGone(client)
  return new ByteStream(socket)
}

export interface ServerTlsOptions {
  readonly host: Host
  /** What is told of it. */
  readonly asked: string
  readonly rule: string
  /** Authorities beside those that this program trusts, as PEM. */
  readonly ca: readonly string[]
  readonly signal: AbortSignal
}

/** Speaks TLS with the real server, whose certificate has to be good for the host. Throws Refusal. */
export async function connectTls(server: ByteStream, options: ServerTlsOptions): Promise<ByteStream> {
  const { host, asked, rule, ca, signal } = options
  const socket = connect({
    socket: new ByteDuplex(server),
    host: host.text,
    // An address is no server name.
    ...(isIP(host.text) === 0 ? { servername: host.text } : {}),
    ALPNProtocols: ALPN,
    secureContext: trusting(ca),
    rejectUnauthorized: true,
  })
  const failure = await agreed(socket, "secureConnect", signal)
  signal.throwIfAborted()
  if (failure === undefined) return new ByteStream(socket)
  throw new Refusal(
    "TLS_UNTRUSTED",
    `The gate could not make a secure connection to ${asked} (${failure}).`,
    `Check the certificate of ${asked}, or try again later.`,
    { rule },
  )
}

const contexts = new WeakMap<readonly string[], SecureContext>()

// Made once: to read all that Node trusts takes long.
function trusting(ca: readonly string[]): SecureContext {
  let context = contexts.get(ca)
  if (!context) {
    const known = ca.length === 0 ? {} : { ca: [...rootCertificates, ...ca] }
    contexts.set(ca, (context = createSecureContext({ minVersion: "TLSv1.2", ...known })))
  }
  return context
}

/** Waits for the end of the handshake; says why there was none, and leaves nothing of it then. */
function agreed(
  socket: TLSSocket,
  event: "secure" | "secureConnect",
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const settle = (failure?: string): void => {
      clearTimeout(timer)
      unwatch()
      if (failure !== undefined) socket.destroy()
      resolve(failure)
    }
    const timer = setTimeout(() => settle("ETIMEDOUT"), timeouts.head)
    const unwatch = watchAbort(signal, () => setImmediate(() => settle("aborted")))
    socket.once(event, () => settle())
    socket.on("error", (error: NodeJS.ErrnoException) => settle(error.code ?? error.message))
    socket.once("close", () => settle("closed"))
  })
}
