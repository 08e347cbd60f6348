import { GloveboxError } from "../../core/index.ts"
import { describe } from "../../internal/describe.ts"
import { type EgressTarget, isTarget, readEgressTarget, readHost } from "../../policy/index.ts"

/** The hosts that a tool may speak to. */
export class AllowedHosts {
  readonly #targets: readonly EgressTarget[]
  readonly #written: readonly string[]

  /** Throws TOOL_INVALID for what is no "host", "host:port" or "*.host:port"; without a port it is 443. */
  constructor(written: readonly string[]) {
    this.#written = written
    this.#targets = written.map((text) => {
      const read = readEgressTarget(/:\d+$/.test(text) ? text : `${text}:443`)
      if ("target" in read) return read.target
      throw new GloveboxError("TOOL_INVALID", `${describe(text)} in allow cannot be used: it ${read.fault}.`)
    })
  }

  /** Why an address may not be asked; undefined when it may. */
  fault({ protocol, hostname, port, username, password }: URL): string | undefined {
    if (protocol !== "https:" && protocol !== "http:") return `${protocol} is no protocol for this`
    if (username !== "" || password !== "") return "an address must not have a user name"
    const read = readHost(hostname)
    if ("fault" in read) return `the host ${read.fault}`
    const number = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)
    if (this.#targets.some((target) => isTarget(target, read.host, number))) return undefined
    return `${hostname}:${number} is not among the hosts that it may ask (${this.#written.join(", ")})`
  }
}
