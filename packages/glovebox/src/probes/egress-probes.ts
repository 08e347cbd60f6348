import { type EgressTarget, allowListOf, readEgressTarget } from "../policy/index.ts"
import { SYSTEMS, inside, lab } from "./define-probe.ts"
import { type Finding, allowed, blocked } from "./finding.ts"
import type { Lab } from "./lab.ts"
import type { Probe, ProbeContext } from "./probe.ts"

const UNLISTED = "unlisted.glovebox.invalid"
// For documentation: nobody is there, so that it reaches nobody even where the wall has a hole.
const NOWHERE = ["203.0.113.1:443", "[2001:db8::1]:443", `${UNLISTED}:443`, `${UNLISTED}:80`]

/** What a policy's allow-list is to let and to refuse; nothing where it has none. */
export function egressProbes(context: ProbeContext): Probe[] {
  const targets = targetsOf(context)
  const plain = targets.filter(({ isWildcard }) => !isWildcard)
  const first = plain[0]
  const port = context.facts.proxyPort
  if (targets.length === 0 || port === undefined) return []
  const planted = first ? { planted: () => ({ authorities: [authority(first)] }) } : {}
  return [
    ...plain.map((target) => reachable(authority(target), port)),
    inside("network", {
      id: "net.proxy-unlisted",
      title: "reach hosts that the allow-list does not have, by its own way out",
      why: "the list is all that may be reached",
      attack: "through_proxy",
      given: () => ({ port, authorities: NOWHERE }),
      seconds: 40,
      ...planted,
    }),
    ...(first ? disguised(first, port) : []),
    lab("network", {
      id: "net.proxy-private",
      title: "reach listeners of this machine by the way out",
      why: "a proxy that reaches private addresses reaches what trusts them",
      expects: ({ facts }) => (facts.isLocal ? "BLOCKED" : undefined),
      careless: "the policy allows the listeners' addresses",
      run: async (one) => reachByProxy(one, port),
    }),
  ]
}

function targetsOf({ policy }: ProbeContext): EgressTarget[] {
  const list = allowListOf(policy.network)
  const texts = [
    ...(list?.allow ?? []).map((rule) => (typeof rule === "string" ? rule : rule.to)),
    ...(list?.allowPrivate ?? []),
  ]
  return [...new Set(texts)].flatMap((text) => {
    const read = readEgressTarget(text)
    return "target" in read ? [read.target] : []
  })
}

function authority({ host, port }: EgressTarget): string {
  return host.kind === "address" && host.version === 6 ? `[${host.text}]:${port}` : `${host.text}:${port}`
}

function reachable(to: string, port: number): Probe {
  return inside("network", {
    id: `net.allowed:${to}`,
    title: `reach ${to}, which the policy allows`,
    why: "the policy gives it to the code",
    attack: "through_proxy",
    given: () => ({ port, authorities: [to] }),
    expects: () => "ALLOWED",
    seconds: 30,
  })
}

function disguised(target: EgressTarget, port: number): Probe[] {
  const { text } = target.host
  const planted = { planted: () => ({ hosts: [text] }) }
  const hosts = [
    `${UNLISTED}\u0000.${text}`,
    `${text}\u0000.${UNLISTED}`,
    `${text}.`,
    `${text}.${UNLISTED}`,
    `x${text}`,
    `${text}@${UNLISTED}`,
    `%${text.charCodeAt(0).toString(16)}${text.slice(1)}`,
    `${text}%00`,
    `${text} `,
  ]
  return [
    inside("network", {
      id: "net.proxy-names",
      title: "reach hosts whose names look like a listed one: NUL, trailing dot, userinfo, percent signs",
      why: "a NUL in a name went past another's list for months",
      tiers: SYSTEMS,
      attack: "through_socks",
      given: () => ({ port, hosts, target: target.port }),
      seconds: 60,
      ...planted,
    }),
    inside("network", {
      id: "net.proxy-port",
      title: `reach a listed host at a port that is not listed`,
      why: "a rule is for a service, not for a machine",
      attack: "through_proxy",
      given: (context) => ({ port, authorities: [`${text}:${freePort(context)}`] }),
      planted: () => ({ authorities: [authority(target)] }),
      seconds: 30,
    }),
  ]
}

function freePort(context: ProbeContext): number {
  const taken = new Set(targetsOf(context).map((target) => target.port))
  return [22, 25, 8443, 9, 1].find((one) => !taken.has(one)) ?? 2
}

async function reachByProxy(one: Lab, port: number): Promise<Finding> {
  await using listeners = await one.listen()
  const authorities = listeners.targets
    .filter(([kind]) => kind === "tcp")
    .map(([, address, at]) => (address.includes(":") ? `[${address}]:${at}` : `${address}:${at}`))
  const found = await ask(one, port, authorities)
  const arrivals = listeners.arrivals()
  if (arrivals.length > 0) return allowed(`heard: ${arrivals.join(", ")}`)
  if (found.observed !== "BLOCKED") return found
  return blocked(`${authorities.length} listeners heard nothing; ${found.evidence}`)
}

async function ask(one: Lab, port: number, authorities: readonly string[]): Promise<Finding> {
  if (!one.isControl) return one.sandboxes.attack("through_proxy", { port, authorities }, 60)
  await using open = one.open({ allowPrivate: authorities })
  return await open.attack("through_proxy", { port, authorities }, 60)
}
