import type { Duplex } from "node:stream"
import type { Host } from "../policy/index.ts"
import { ByteStream, StreamGone } from "./byte-stream.ts"
import { checkHello, peekClientHello } from "./check-hello.ts"
import { endOf, idled, late, tightened, tooMany } from "./connection-refusals.ts"
import { dial } from "./dial.ts"
import type { EgressDenial, EgressEnd } from "./egress-event.ts"
import type { Asked, EgressLog, OpenConnection } from "./egress-log.ts"
import type { HostLookups } from "./host-lookups.ts"
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
import { timeouts } from "./timeouts.ts"

/** What all connections of a gate share. */
export interface GateContext {
  /** The rules as they are now. */
  readonly book: () => RuleBook
  readonly log: EgressLog
  readonly lookups: HostLookups
}

/** What was decided on, to be decided again when the rules change. */
interface Decided {
  readonly host: Host
  readonly port: number
  readonly address: string
  readonly use: EgressUse
  readonly open: OpenConnection
  readonly close: (ended: EgressEnd, denial?: EgressDenial) => void
  rule: BookRule
}

interface Ending {
  readonly ended: EgressEnd
  /** Why it was refused or cut, if it was. */
  readonly refusal?: Refusal | undefined
}

/** One connection of a program in the sandbox, from its first byte to its end. */
export class ProxiedConnection {
  readonly #context: GateContext
  readonly #client: ByteStream
  readonly #asked: Asked = { via: "unknown", host: "", port: 0 }
  readonly #startedAt = performance.now()
  readonly #leaving = new AbortController()
  #server: ByteStream | undefined
  #form: AnswerForm = "none"
  // The rule that let it be dialled, before the last decision.
  #early: { readonly rule: string; address: string | undefined } | undefined
  #decided: Decided | undefined
  #idle: NodeJS.Timeout | undefined
  #end: Ending | undefined
  #isActive = true

  constructor(client: Duplex, context: GateContext) {
    this.#context = context
    this.#client = new ByteStream(client)
    this.#client.onReset(() => this.end("client"))
  }

  /** Whether it is being decided, or open; not when it only takes its leave. */
  get isActive(): boolean {
    return this.#isActive
  }

  /** Ends it now. */
  end(ended: EgressEnd, refusal?: Refusal): void {
    this.#end ??= { ended, refusal }
    this.#leaving.abort()
    this.#client.destroy()
    this.#server?.reset()
  }

  /** Decides again, by the rules as they are now, whether it may stay open. */
  recheck(): void {
    const decided = this.#decided
    if (!decided || this.#end) return
    const { host, port, address, use } = decided
    try {
      const rule = this.#decide(host, port, address, use)
      decided.rule = rule
      decided.open.rule = rule.text
      this.#watchIdle()
    } catch {
      this.end("policy", tightened(decided.rule.text))
    }
  }

  /** Serves the client; resolves when it is gone, and never rejects. */
  async serve(isOverLimit: boolean): Promise<void> {
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
    this.#isActive = false
    this.#write(refusal)
    if (isClean) this.#server?.destroy()
    else this.#server?.reset()
    await this.#takeLeave(refusal, isClean)
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
    const rule = book().decide(host, port, request.kind === "http" ? request.use : undefined).text
    this.#early = { rule, address: undefined }
    const addresses = await resolveHost({ host, port, rule, lookups, book, signal })
    const asked = describeAsked({ via: "unknown", host: host.text, port })
    const { socket, address } = await dial({ addresses, port, asked, rule, signal })
    this.#server = new ByteStream(socket)
    this.#early.address = address
    return address
  }

  async #serveTunnel(request: TunnelRequest, address: string): Promise<EgressEnd> {
    const { host, port, established } = request
    const rule = this.#decide(host, port, address)
    this.#client.send(established)
    this.#form = "none"
    if (rule.isTcp) return this.#relayRaw(request, address, { kind: "raw" })
    const seen = await this.#withinHeadTime(() => this.#see(request, rule.text))
    if (!seen) return "client"
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

  async #relayRaw(request: TunnelRequest, address: string, use: EgressUse): Promise<EgressEnd> {
    this.#open(request, address, use)
    return relayRaw({ client: this.#client, server: this.#server!, take: this.#take })
  }

  async #relayHttp(request: HttpRequest, address: string): Promise<EgressEnd> {
    const { use, head, framing } = request
    this.#open(request, address, use)
    return relayHttp({
      client: this.#client,
      server: this.#server!,
      take: this.#take,
      head,
      framing,
      isUpgrade: use.isUpgrade,
    })
  }

  #open({ host, port }: TunnelRequest | HttpRequest, address: string, use: EgressUse): void {
    const rule = this.#decide(host, port, address, use)
    const open: OpenConnection = {
      startedAt: this.#startedAt,
      rule: rule.text,
      address,
      bytesUp: 0,
      bytesDown: 0,
    }
    const close = this.#context.log.open(this.#asked, open)
    this.#decided = { host, port, address, use, open, close, rule }
    this.#watchIdle()
  }

  // The rules may have changed since the address was looked at.
  #decide(host: Host, port: number, address: string, use?: EgressUse): BookRule {
    const book = this.#context.book()
    const rule = book.decide(host, port, use)
    if (book.addressFault(host, port, address) !== undefined) throw tightened(rule.text)
    return rule
  }

  readonly #take = (direction: "up" | "down", bytes: number): number => {
    const { rule, open } = this.#decided!
    const granted = rule.budget.take(direction, bytes)
    if (direction === "up") open.bytesUp += granted
    else open.bytesDown += granted
    this.#idle?.refresh()
    return granted
  }

  #watchIdle(): void {
    const { idle } = this.#context.book()
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.end("idle", idled(idle, this.#decided!.rule.text)), idle)
  }

  async #withinHeadTime<Result>(read: () => Promise<Result>): Promise<Result> {
    const timer = setTimeout(() => this.#client.interrupt(late(this.#early?.rule)), timeouts.head)
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

  /** Writes down what became of it. */
  #write(refusal: Refusal | undefined): void {
    const { log } = this.#context
    const { ended, refusal: cut } = this.#end ?? { ended: "client" }
    const denial = (refusal ?? cut)?.toDenial(describeAsked(this.#asked))
    if (this.#decided) this.#decided.close(ended, denial)
    else if (denial) log.deny(this.#asked, denial, ended, this.#startedAt)
    else if (this.#early) {
      // It left between the decision and its first byte.
      const { rule, address } = this.#early
      log.open(this.#asked, { startedAt: this.#startedAt, rule, address, bytesUp: 0, bytesDown: 0 })(ended)
    }
  }

  /** Lets the client have its answer, and what else is on its way, before the end. */
  async #takeLeave(refusal: Refusal | undefined, isClean: boolean): Promise<void> {
    const timer = setTimeout(() => this.#client.destroy(), timeouts.leave)
    try {
      // Whoever has a part of an answer must not take it for all of it.
      const isCut = refusal ? (this.#decided?.open.bytesDown ?? 0) > 0 : !isClean
      if (isCut) return await this.#client.flush()
      const answer =
        refusal && refusalAnswer(this.#form, refusal.toDenial(describeAsked(this.#asked)), refusal.isTimeout)
      if (answer) this.#client.send(answer)
      await this.#client.finish()
      // Bytes that nobody has read would make a reset of the end, and the client would lose the answer.
      while (await this.#client.read());
    } catch {
      // It is gone already.
    } finally {
      clearTimeout(timer)
      this.#client.destroy()
    }
  }
}
