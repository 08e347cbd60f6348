/** Why a connection was refused, or was cut. */
export type EgressDenialCode =
  /** What was sent is no request to a proxy. */
  | "BAD_REQUEST"
  /** The host is not written as a host name or an address must be. */
  | "BAD_HOST"
  /** No rule is for the host. */
  | "NOT_ALLOWED"
  /** The host is listed with another port. */
  | "PORT"
  /** The host is at a private address, or at one of this machine. */
  | "PRIVATE_ADDRESS"
  | "NAME_NOT_FOUND"
  | "CONNECT_FAILED"
  | "METHOD"
  | "PATH"
  | "TLS_NO_SNI"
  | "TLS_WRONG_NAME"
  /** TLS hides what the rule wants to see. */
  | "TLS_HIDDEN"
  /** The server of an intercepted connection has no certificate that is good for the host. */
  | "TLS_UNTRUSTED"
  /** Neither TLS nor HTTP, by a rule for those. */
  | "PROTOCOL"
  | "HOST_MISMATCH"
  /** A request that two readers could end at two places. */
  | "SMUGGLING"
  /** An answer to a request with a secret cannot be read, so the secret may be in it. */
  | "SECRET_HIDDEN"
  | "BUDGET"
  | "TOO_MANY_CONNECTIONS"
  | "IDLE"
  | "HEADER_TIMEOUT"
  | "HEADER_TOO_LARGE"
  | "UNSUPPORTED"
  | "POLICY_TIGHTENED"

/** Why not, in words that a model can act on. */
export interface EgressDenial {
  readonly code: EgressDenialCode
  /** The rule that came nearest. */
  readonly rule: string | undefined
  /** What was asked for. */
  readonly resource: string
  readonly message: string
  /** What to do instead, in one sentence. */
  readonly suggestion: string
}

/** How a program asked for its connection. */
export type EgressVia = "connect" | "http" | "socks5" | "unknown"

/** Who or what ended a connection. */
export type EgressEnd = "client" | "server" | "budget" | "idle" | "policy" | "closed" | "error"

/** That the value of a secret was put into a request. */
export interface SecretUse {
  readonly name: string
  readonly host: string
}

/** One connection that a program in the sandbox asked for, and what became of it. */
export interface EgressConnection {
  readonly id: number
  readonly via: EgressVia
  /** As it was decided on, or a printable form of what was asked. */
  readonly host: string
  readonly port: number
  readonly verdict: "allowed" | "denied"
  /** The rule that allowed it. */
  readonly rule?: string | undefined
  /** The very address that was dialled. */
  readonly address?: string | undefined
  /** Whether the gate ended its TLS, and read it. */
  readonly intercepted?: boolean | undefined
  /** Secrets whose values the gate put into the request: the receipt. Never the values. */
  readonly secrets?: readonly SecretUse[] | undefined
  /** Names of secrets whose placeholders went out as they are, because the value may not go there. */
  readonly secretsWithheld?: readonly string[] | undefined
  /** Of plain and of intercepted HTTP only. */
  readonly method?: string | undefined
  readonly path?: string | undefined
  /** Why it was refused, or why an allowed one was cut. */
  readonly denial?: EgressDenial | undefined
  readonly bytesUp: number
  readonly bytesDown: number
  readonly durationMs: number
  /** Absent while it is open. */
  readonly ended?: EgressEnd | undefined
}

/** The connections so far. */
export interface EgressRecords {
  readonly connections: readonly EgressConnection[]
  /** Whether there were more than are kept. */
  readonly truncated: boolean
}

export interface EgressEvent {
  readonly state: "denied" | "opened" | "closed"
  readonly connection: EgressConnection
}
