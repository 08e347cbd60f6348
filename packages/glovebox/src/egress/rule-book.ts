import { canonicalJson } from "../internal/canonical-json.ts"
import {
  type AllowList,
  type EgressTarget,
  type Host,
  describeRule,
  describeTarget,
  isTarget,
  readEgressTarget,
} from "../policy/index.ts"
import { specialAddress } from "./address-class.ts"
import { ByteBudget, type UsedBefore } from "./byte-budget.ts"
import { pathFault } from "./path-fault.ts"
import { Refusal, printable } from "./refusal.ts"

/** What a connection is used for, as far as it can be seen. */
export type EgressUse =
  | { readonly kind: "raw" }
  | { readonly kind: "tls" }
  | {
      readonly kind: "http"
      readonly method: string
      readonly path: string
      readonly isUpgrade: boolean
      /** A header that could make another method or path of it. */
      readonly misleading: string | undefined
    }

export interface BookRule {
  /** The same for the same rule of another list, and for no other. */
  readonly key: string
  readonly text: string
  readonly target: EgressTarget
  /** Whether nothing of it is looked at. */
  readonly isTcp: boolean
  /** Whether TLS to its target ends in the gate. */
  readonly isIntercepted: boolean
  readonly methods: readonly string[] | undefined
  readonly paths: readonly string[] | undefined
  readonly budget: ByteBudget
}

/** The rules of one allow-list: what they say of a connection. */
export class RuleBook {
  readonly connections: number
  readonly idle: number
  readonly #rules: readonly BookRule[]
  readonly #private: readonly EgressTarget[]

  /** A rule that was there before goes on with what it has left; in a new one, what others used for it is used up. */
  constructor(list: AllowList | "none", before?: RuleBook) {
    const { allow, allowPrivate = [], connections, idle } = list === "none" ? NOTHING : list
    this.connections = connections
    this.idle = idle
    this.#private = allowPrivate.map(readTarget)
    const rules = [
      ...allowPrivate.map((to) =>
        bookRule({ to, protocol: "tcp" }, { key: to, text: `${to} (private)` }, before),
      ),
      ...allow.map((rule) =>
        bookRule(
          typeof rule === "string" ? { to: rule, protocol: "web" } : rule,
          { key: canonicalJson(rule), text: describeRule(rule) },
          before,
        ),
      ),
    ]
    // The widest first, so that a narrow rule never hides it.
    this.#rules = rules.toSorted((a, b) => narrowness(a) - narrowness(b))
  }

  /** The rule that allows it; throws Refusal. Without a use: whether any could. */
  decide(host: Host, port: number, use?: EgressUse): BookRule {
    const rules = this.#rules.filter((rule) => isTarget(rule.target, host, port))
    if (rules.length === 0) throw this.#refuseHost(host, port)
    const fitting = use ? rules.filter((rule) => fits(rule, use)) : rules
    if (fitting.length === 0) throw refuseUse(nearest(rules, use!), host, port, use!)
    const rule = fitting.find(({ budget }) => !budget.isSpent)
    if (!rule) throw spent(fitting[0]!)
    return rule
  }

  /** Whether a rule has TLS with the host end in the gate, whatever other rules there are for it. */
  intercepts(host: Host, port: number): boolean {
    return this.#rules.some((rule) => rule.isIntercepted && isTarget(rule.target, host, port))
  }

  /** Why the address may not be dialled for the host, which resolved to it; undefined when it may. */
  addressFault(host: Host, port: number, address: string, own?: ReadonlySet<string>): string | undefined {
    const isNamed = this.#private.some(
      (target) =>
        isTarget(target, host, port) ||
        (target.port === port && target.host.kind === "address" && target.host.text === address),
    )
    return isNamed ? undefined : specialAddress(address, own)
  }

  /** The budget for a new rule, or for one that is here already. */
  budgetFor(key: string, target: EgressTarget, most: Pick<EgressRuleFields, "up" | "down">): ByteBudget {
    const same = this.#rules.find((rule) => rule.key === key)
    return same ? same.budget : new ByteBudget(most, this.#usedFor(target))
  }

  // By rules for at least this target.
  #usedFor(target: EgressTarget): UsedBefore {
    const covering = this.#rules.filter((rule) => coversTarget(rule.target, target))
    const used = covering.flatMap(({ budget }) => [...budget.used])
    // Of what is known twice the larger, which is the later.
    return new Map(used.toSorted(([, a], [, b]) => a.up + a.down - (b.up + b.down)))
  }

  #refuseHost(host: Host, port: number): Refusal {
    const asked = describeTarget({ host, isWildcard: false, port })
    const others = this.#rules.filter(({ target }) => isTarget(target, host, target.port))
    if (others.length > 0) {
      const ports = [...new Set(others.map(({ target }) => target.port))].join(", ")
      return new Refusal(
        "PORT",
        `${asked} is not in network.allow: ${host.text} is there with port ${ports} only.`,
        `Use port ${ports} of ${host.text}, or ask for "${asked}" to be added to network.allow.`,
        { rule: others[0]!.text },
      )
    }
    return new Refusal(
      "NOT_ALLOWED",
      `${asked} is not in network.allow.`,
      `Do without ${host.text}, or ask for "${asked}" to be added to network.allow.`,
    )
  }
}

type EgressRuleFields = Exclude<AllowList["allow"][number], string>

const NOTHING: AllowList = { allow: [], connections: 1, idle: 60_000 }

/** What to say when a rule has nothing left. */
export function spent(rule: BookRule): Refusal {
  return new Refusal(
    "BUDGET",
    `The bytes that may go through the rule ${rule.text} are used up.`,
    "Do without further transfers to this host, or ask for a larger up or down budget in network.allow.",
    { rule: rule.text },
  )
}

function bookRule(
  rule: EgressRuleFields,
  { key, text }: Pick<BookRule, "key" | "text">,
  before: RuleBook | undefined,
): BookRule {
  const target = readTarget(rule.to)
  return {
    key,
    text,
    target,
    isTcp: rule.protocol === "tcp",
    isIntercepted: rule.intercept === true,
    methods: rule.methods,
    paths: rule.paths,
    budget: before?.budgetFor(key, target, rule) ?? new ByteBudget(rule),
  }
}

function readTarget(to: string): EgressTarget {
  const read = readEgressTarget(to)
  // The policy has read it before; a rule that cannot be read must not become none.
  if ("fault" in read) throw new TypeError(`${to} ${read.fault}`)
  return read.target
}

function narrowness({ isTcp, methods, paths }: BookRule): number {
  if (isTcp) return 0
  return methods || paths ? 2 : 1
}

function coversTarget(outer: EgressTarget, inner: EgressTarget): boolean {
  if (inner.isWildcard)
    return outer.isWildcard && outer.port === inner.port && outer.host.text === inner.host.text
  return isTarget(outer, inner.host, inner.port)
}

function fits({ isTcp, isIntercepted, methods, paths }: BookRule, use: EgressUse): boolean {
  if (isTcp) return true
  // TLS that passes unread is not what such a rule is for.
  if (use.kind === "raw" || (use.kind === "tls" && isIntercepted)) return false
  if (!methods && !paths) return true
  if (use.kind === "tls" || use.isUpgrade || use.misleading !== undefined) return false
  return (!methods || methods.includes(use.method)) && (!paths || isBelow(use.path, paths))
}

// Of several rules the one that at least knows the method: what is wrong is then the path.
function nearest(rules: readonly BookRule[], use: EgressUse): BookRule {
  const knowing = rules.find(
    ({ methods }) => use.kind === "http" && (!methods || methods.includes(use.method)),
  )
  return knowing ?? rules[0]!
}

function isBelow(path: string, prefixes: readonly string[]): boolean {
  return pathFault(path) === undefined && prefixes.some((prefix) => path.startsWith(prefix))
}

function refuseUse(rule: BookRule, host: Host, port: number, use: EgressUse): Refusal {
  const asked = describeTarget({ host, isWildcard: false, port })
  const about = { rule: rule.text }
  if (use.kind === "raw")
    return new Refusal(
      "PROTOCOL",
      `The rule ${rule.text} lets TLS and HTTP through, and this is neither.`,
      `Speak HTTP or TLS to ${asked}, or ask for its rule to have protocol: tcp.`,
      about,
    )
  if (use.kind === "tls")
    return new Refusal(
      "TLS_HIDDEN",
      `The rule ${rule.text} looks at methods and paths, which TLS hides.`,
      `Use plain HTTP for ${asked}, or ask for its rule to have intercept: true, or no methods and paths.`,
      about,
    )
  if (use.isUpgrade)
    return new Refusal(
      "UNSUPPORTED",
      `The rule ${rule.text} looks at methods and paths, and after an upgrade there are none to see.`,
      `Use plain HTTP requests for ${asked}, or ask for a rule without methods and paths.`,
      about,
    )
  if (use.misleading !== undefined)
    return new Refusal(
      "UNSUPPORTED",
      `The rule ${rule.text} looks at methods and paths, and some servers take others from the header ${printable(use.misleading)}.`,
      `Leave the header ${printable(use.misleading)} out, or ask for a rule without methods and paths.`,
      about,
    )
  if (rule.methods && !rule.methods.includes(use.method))
    return new Refusal(
      "METHOD",
      `${use.method} is not a method that the rule ${rule.text} allows.`,
      `Use ${rule.methods.join(" or ")} for ${asked}, or ask for ${use.method} to be added to the rule's methods.`,
      about,
    )
  const fault = pathFault(use.path)
  return new Refusal(
    "PATH",
    fault === undefined
      ? `The path is not one that the rule ${rule.text} allows.`
      : `The path ${fault}, so it cannot be compared with those of the rule ${rule.text}.`,
    fault === undefined
      ? `Use a path that begins with ${(rule.paths ?? []).join(" or ")}, or ask for this one to be added to the rule's paths.`
      : "Write the path plainly: without dot segments, double slashes, backslashes and encoded characters.",
    about,
  )
}
