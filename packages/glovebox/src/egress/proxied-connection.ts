import type { Duplex } from "node:stream"
import { type Host, describeTarget } from "../policy/index.ts"
import { ownAddresses } from "./address-class.ts"
import { AnswerScrubber } from "./answer-scrubber.ts"
import { ByteStream, StreamGone } from "./byte-stream.ts"
import type { CertificateAuthority } from "./certificate-authority.ts"
import { checkHello, peekClientHello } from "./check-hello.ts"
import { endOf, idled, late, tightened, tooMany } from "./connection-refusals.ts"
import { dial } from "./dial.ts"
import type { EgressEnd } from "./egress-event.ts"
import type { Asked, ConnectionRecord, EgressLog } from "./egress-log.ts"
import type { GateSecrets } from "./gate-secrets.ts"
import type { HostLookups } from "./host-lookups.ts"
import { acceptTls, connectTls } from "./intercept-tls.ts"
import {
  type HttpRequest,
  type TunnelRequest,
  describeAsked,
  readInnerRequest,
  readProxyRequest,
} from "./proxy-request.ts"
import { Refusal } from "./refusal.ts"
import { type AnswerForm, refusalAnswer } from "./refusal-answer.ts"
import { OverBudget, relayHttp, relayRaw } from "./relay.ts"
import { resolveHost } from "./resolve-host.ts"
import { type BookRule, type EgressUse, type RuleBook, spent } from "./rule-book.ts"
import { sniff } from "./sniff.ts"
import { takeLeave } from "./take-leave.ts"
import { timeouts } from "./timeouts.ts"

/** What all connections of a gate share. */
export interface GateContext {
  /** The rules as they are now. */
  readonly book: () => RuleBook
  readonly log: EgressLog
  readonly lookups: HostLookups
  readonly secrets: GateSecrets
  /** Vouches for hosts whose TLS ends here. */
  readonly authority: () => CertificateAuthority
  /** Authorities that servers may have beside the known ones. */
  readonly ca: readonly string[]
  /** Whether somebody hears that a value is used. */
  readonly canReceipt: () => boolean
}

/** What was decided on, to be decided again when the rules change. */
interface Decided {
  readonly host: Host
  readonly port: number
  readonly address: string
  readonly use: EgressUse
  rule: BookRule
}

/** What let it be looked for and dialled, before the last decision. */
interface EarlyDecided {
  readonly host: Host
  readonly port: number
  readonly use: EgressUse | undefined
  /** Those that are dialled. */
  addresses: readonly string[]
}

interface Ending {
  readonly ended: EgressEnd
  /** Why it was refused or cut, if it was. */
  readonly refusal?: Refusal | undefined
}

/** One connection of a program in the sandbox, from its first byte to its end. */
export class ProxiedConnection {
  readonly #context: GateContext
  #client: ByteStream
  readonly #asked: Asked = { via: "unknown", host: "", port: 0 }
  readonly #startedAt = performance.now()
  readonly #leaving = new AbortController()
  #server: ByteStream | undefined
  #form: AnswerForm = "none"
  // There from the first decision on.
  #record: ConnectionRecord | undefined
  #early: EarlyDecided | undefined
  #decided: Decided | undefined
  #idle: NodeJS.Timeout | undefined
  #end: Ending | undefined

  constructor(client: Duplex, context: GateContext) {
    this.#context = context
    this.#client = new ByteStream(client)
    this.#client.onReset(() => this.end("client"))
  }

  /** Ends it now. */
  end(ended: EgressEnd, refusal?: Refusal): void {
    this.#end ??= { ended, refusal }
    this.#leaving.abort()
    this.#client.destroy()
    this.#server?.reset()
  }

  /** Decides again, by the rules as they are now, whether it may go on. */
  recheck(): void {
    if (this.#end) return
    if (this.#decided) this.#recheckOpen(this.#decided)
    else if (this.#early) this.#recheckEarly(this.#early)
  }

  #recheckOpen(decided: Decided): void {
    const { host, port, address, use } = decided
    try {
      const rule = this.#decide(host, port, [address], use)
      decided.rule = rule
      this.#record!.rule = rule.text
      this.#watchIdle()
    } catch {
      this.end("policy", tightened(decided.rule.text))
    }
  }

  #recheckEarly({ host, port, use, addresses }: EarlyDecided): void {
    try {
      this.#record!.rule = this.#decide(host, port, addresses, use).text
    } catch {
      // The client is still to be told, wherever the decision has got to.
      const refusal = tightened(this.#record!.rule)
      this.#leaving.abort(refusal)
      this.#client.interrupt(refusal)
    }
  }

  /** Serves the client, and says when it only takes its leave; resolves when it is gone, and never rejects. */
  async serve(isOverLimit: boolean, onLeave: () => void): Promise<void> {
    let refusal: Refusal | undefined
    let isClean = false
    try {
      const ended = await this.#run(isOverLimit)
      if (ended) this.#end ??= { ended }
      isClean = true
    } catch (error) {
      if (error instanceof Refusal && !this.#end) refusal = error
      this.#end ??= this.#endBy(error)
    }
    clearTimeout(this.#idle)
    this.#client.interrupt(undefined)
    onLeave()
    this.#write(refusal)
    if (isClean) this.#server?.destroy()
    else this.#server?.reset()
    // Whoever has a part of an answer must not take it for all of it.
    const isCut = refusal ? (this.#record?.bytesDown ?? 0) > 0 : !isClean
    await takeLeave(this.#client, isCut ? "cut" : this.#answer(refusal))
  }

  async #run(isOverLimit: boolean): Promise<EgressEnd | undefined> {
    const request = await this.#withinHeadTime(() =>
      readProxyRequest({
        stream: this.#client,
        asked: this.#asked,
        onForm: (form) => (this.#form = form),
      }),
    )
    if (!request) return undefined
    if (isOverLimit) throw tooMany(this.#context.book().connections)
    const address = await this.#dial(request)
    return request.kind === "http" ? this.#relayHttp(request, address) : this.#serveTunnel(request, address)
  }

  async #dial(request: TunnelRequest | HttpRequest): Promise<string> {
    const { host, port } = request
    const { book, lookups } = this.#context
    const { signal } = this.#leaving
    const use = request.kind === "http" ? request.use : undefined
    const rule = book().decide(host, port, use).text
    const record = this.#context.log.begin(this.#asked, rule, this.#startedAt)
    const early: EarlyDecided = { host, port, use, addresses: [] }
    this.#record = record
    this.#early = early
    early.addresses = await resolveHost({ host, port, rule, lookups, book, signal })
    // What was allowed may have been used up meanwhile.
    this.#decide(host, port, early.addresses, use)
    const asked = describeAsked({ via: "unknown", host: host.text, port })
    const { socket, address } = await dial({ addresses: early.addresses, port, asked, rule, signal })
    this.#server = new ByteStream(socket)
    record.address = address
    early.addresses = [address]
    signal.throwIfAborted()
    return address
  }

  async #serveTunnel(request: TunnelRequest, address: string): Promise<EgressEnd> {
    const { host, port, established } = request
    const rule = this.#decide(host, port, [address])
    this.#client.send(established)
    this.#form = "none"
    const isIntercepted = this.#context.book().intercepts(host, port)
    if (rule.isTcp && !isIntercepted) return this.#relayRaw(request, address, { kind: "raw" })
    const seen = await this.#withinHeadTime(() => this.#see(request, rule.text))
    if (!seen) return "client"
    if (seen.kind === "tls" && isIntercepted) return this.#intercept(request, address, rule.text)
    return "head" in seen ? this.#relayHttp(seen, address) : this.#relayRaw(request, address, seen)
  }

  /** Looks at what the client begins with, before any of it goes up. */
  async #see(request: TunnelRequest, rule: string): Promise<EgressUse | HttpRequest | undefined> {
    const { host, port } = request
    const kind = await sniff(this.#client)
    if (kind === "tls") {
      this.#form = "tls"
      checkHello(await peekClientHello(this.#client, rule), host, port, rule)
      return { kind }
    }
    if (kind !== "http") return kind && { kind }
    this.#form = "http"
    return readInnerRequest({ stream: this.#client, asked: this.#asked }, request)
  }

  /** Ends the client's TLS here, reads its request, and only then speaks TLS with the server. */
  async #intercept(request: TunnelRequest, address: string, rule: string): Promise<EgressEnd> {
    const { host, port } = request
    const { authority, ca } = this.#context
    const { signal } = this.#leaving
    this.#form = "none"
    this.#asked.intercepted = true
    this.#client = await acceptTls(this.#client, host, authority(), signal)
    signal.throwIfAborted()
    this.#form = "http"
    const inner = await this.#withinHeadTime(() =>
      readInnerRequest({ stream: this.#client, asked: this.#asked }, request, true),
    )
    this.#decide(host, port, [address], inner.use)
    const asked = describeTarget({ host, isWildcard: false, port })
    this.#server = await connectTls(this.#server!, { host, asked, rule, ca, signal })
    signal.throwIfAborted()
    return this.#relayHttp(inner, address, true)
  }

  async #relayRaw(request: TunnelRequest, address: string, use: EgressUse): Promise<EgressEnd> {
    this.#open(request, address, use)
    return relayRaw({ client: this.#client, server: this.#server!, take: this.#take })
  }

  async #relayHttp(request: HttpRequest, address: string, isTls = false): Promise<EgressEnd> {
    const { use, head, framing } = request
    const { fields, used, withheld, kept } = this.#context.secrets.place(request.fields, {
      ...request,
      isTls,
    })
    if (used.length > 0 && !this.#context.canReceipt()) {
      this.end("closed")
      throw new StreamGone(this.#client)
    }
    const host = describeTarget({ ...request, isWildcard: false })
    this.#open(request, address, use, {
      ...(used.length === 0 ? {} : { secrets: used.map((name) => ({ name, host })) }),
      ...(withheld.length === 0 ? {} : { secretsWithheld: withheld }),
    })
    return relayHttp({
      client: this.#client,
      server: this.#server!,
      take: this.#take,
      head: head(fields),
      framing,
      isUpgrade: use.isUpgrade,
      filter: kept && new AnswerScrubber(kept),
    })
  }

  #open(
    { host, port }: TunnelRequest | HttpRequest,
    address: string,
    use: EgressUse,
    receipts: Pick<Asked, "secrets" | "secretsWithheld"> = {},
  ): void {
    const rule = this.#decide(host, port, [address], use)
    Object.assign(this.#asked, receipts)
    this.#record!.rule = rule.text
    this.#decided = { host, port, address, use, rule }
    this.#record!.open()
    this.#watchIdle()
  }

  // The rules may have changed since the addresses were looked at.
  #decide(host: Host, port: number, addresses: readonly string[], use?: EgressUse): BookRule {
    const book = this.#context.book()
    const rule = book.decide(host, port, use)
    const own = ownAddresses()
    if (addresses.some((address) => book.addressFault(host, port, address, own) !== undefined))
      throw tightened(rule.text)
    return rule
  }

  readonly #take = (direction: "up" | "down", bytes: number): number => {
    const granted = this.#decided!.rule.budget.take(direction, bytes)
    if (direction === "up") this.#record!.bytesUp += granted
    else this.#record!.bytesDown += granted
    this.#idle?.refresh()
    return granted
  }

  #watchIdle(): void {
    const { idle } = this.#context.book()
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.end("idle", idled(idle, this.#decided!.rule.text)), idle)
  }

  async #withinHeadTime<Result>(read: () => Promise<Result>): Promise<Result> {
    const timer = setTimeout(() => this.#client.interrupt(late(this.#record?.rule)), timeouts.head)
    try {
      return await read()
    } finally {
      clearTimeout(timer)
      this.#client.interrupt(undefined)
    }
  }

  #endBy(error: unknown): Ending {
    if (error instanceof Refusal) return { ended: endOf(error.code), refusal: error }
    if (error instanceof OverBudget) return { ended: "budget", refusal: spent(this.#decided!.rule) }
    if (!(error instanceof StreamGone)) return { ended: "error" }
    if (error.stream === this.#client) return { ended: "client" }
    return { ended: error.stream.hasFailed ? "error" : "server" }
  }

  #answer(refusal: Refusal | undefined): Buffer | undefined {
    return (
      refusal && refusalAnswer(this.#form, refusal.toDenial(describeAsked(this.#asked)), refusal.isTimeout)
    )
  }

  /** Writes down what became of it. */
  #write(refusal: Refusal | undefined): void {
    const { log } = this.#context
    const { ended, refusal: cut } = this.#end ?? { ended: "client" }
    const denial = (refusal ?? cut)?.toDenial(describeAsked(this.#asked))
    if (this.#record) this.#record.end(ended, denial)
    else if (denial) log.deny(this.#asked, denial, ended, this.#startedAt)
  }
}
