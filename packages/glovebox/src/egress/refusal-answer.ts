import type { EgressDenial, EgressDenialCode } from "./egress-event.ts"
import { printable } from "./refusal.ts"

/** In what the client can be told of a refusal. */
export type AnswerForm = "http" | "socks4" | "socks5" | "tls" | "none"

const LONGEST_REASON = 200
// Fatal: unrecognized_name for names, access_denied for the rest.
const UNRECOGNIZED_NAME = 112
const ACCESS_DENIED = 49

const STATUSES: Partial<Record<EgressDenialCode, readonly [status: number, words: string]>> = {
  BAD_REQUEST: [400, "Refused by Glovebox"],
  BAD_HOST: [400, "Refused by Glovebox"],
  HOST_MISMATCH: [400, "Refused by Glovebox"],
  SMUGGLING: [400, "Refused by Glovebox"],
  HEADER_TOO_LARGE: [400, "Refused by Glovebox"],
  HEADER_TIMEOUT: [408, "Refused by Glovebox"],
  NAME_NOT_FOUND: [502, "Not reached by Glovebox"],
  CONNECT_FAILED: [502, "Not reached by Glovebox"],
  TLS_UNTRUSTED: [502, "Not reached by Glovebox"],
  SECRET_HIDDEN: [502, "Refused by Glovebox"],
  TOO_MANY_CONNECTIONS: [503, "Refused by Glovebox"],
}

const SOCKS_CODES: Partial<Record<EgressDenialCode, number>> = {
  BAD_REQUEST: 1,
  BAD_HOST: 1,
  HEADER_TIMEOUT: 1,
  TOO_MANY_CONNECTIONS: 1,
  NAME_NOT_FOUND: 4,
  CONNECT_FAILED: 5,
  UNSUPPORTED: 7,
}

/** The answer that tells the client no. */
export function refusalAnswer(
  form: AnswerForm,
  denial: EgressDenial,
  isTimeout: boolean,
): Buffer | undefined {
  switch (form) {
    case "http":
      return httpAnswer(denial, isTimeout)
    case "socks4":
      return Buffer.from([0, 0x5b, 0, 0, 0, 0, 0, 0])
    case "socks5":
      return socksReply(socksCode(denial))
    case "tls":
      return tlsAlert(denial.code)
    case "none":
  }
  return undefined
}

/** A reply of SOCKS5; where the server is remains the gate's. */
export function socksReply(code: number): Buffer {
  return Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0])
}

function httpAnswer(denial: EgressDenial, isTimeout: boolean): Buffer {
  const { code, message, suggestion } = denial
  const [status, words] = STATUSES[code] ?? [403, "Denied by Glovebox"]
  // Many clients show the reason and nothing else.
  const reason = printable(`${words}: ${message.replace(/\.$/, "")}`.slice(0, LONGEST_REASON)).slice(
    0,
    LONGEST_REASON,
  )
  const body = `${message}\n${suggestion}\n`
  const lines = [
    `HTTP/1.1 ${isTimeout ? 504 : status} ${reason}`,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Glovebox-Denied: ${code}`,
    "Connection: close",
  ]
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`)
}

function socksCode({ code, message }: EgressDenial): number {
  // 8 is for the type of an address, 2 for what the rules do not allow.
  if (code === "BAD_REQUEST" && message.includes("unknown type")) return 8
  return SOCKS_CODES[code] ?? 2
}

function tlsAlert(code: EgressDenialCode): Buffer {
  const isName = code === "TLS_NO_SNI" || code === "TLS_WRONG_NAME"
  return Buffer.from([21, 3, 3, 0, 2, 2, isName ? UNRECOGNIZED_NAME : ACCESS_DENIED])
}
