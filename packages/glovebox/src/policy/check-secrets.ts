import type { z } from "zod"
import { GloveboxError } from "../core/index.ts"
import { isTarget, readEgressTarget } from "./egress-rule.ts"
import { type AllowList, type NetworkFields, allowListOf } from "./network-schema.ts"
import { type SecretHost, type SecretsFields, readSecretHost, secretVariable } from "./secret-schema.ts"

interface Fields {
  readonly network: NetworkFields
  readonly env: Readonly<Record<string, string>>
  readonly secrets?: SecretsFields
}

/** What is wrong with secrets beside the rest of their policy. */
export function secretIssues({ network, env, secrets = {} }: Fields): z.core.$ZodRawIssue[] {
  const variables = new Map<string, string>()
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const variable = secretVariable(name, secret)
    const other = variables.get(variable)
    variables.set(variable, name)
    const at = secret.env === undefined ? [name] : [name, "env"]
    return [
      ...(Object.hasOwn(env, variable)
        ? [issue(at, `the variable ${variable} is in env too: leave one of them out`)]
        : []),
      ...(other === undefined ? [] : [issue(at, `the variable ${variable} is that of ${other} too`)]),
      ...secret.hosts.flatMap((host, index) =>
        canReach(network, host) ? [] : [issue([name, "hosts", index], notAllowed(host))],
      ),
    ]
  })
}

/** @throws SECRET_NEEDS_INTERCEPTION where a value is for TLS that nobody may open to put it in. */
export function checkInterception({ network, secrets = {} }: Fields): void {
  const list = allowListOf(network)
  for (const [name, { hosts }] of Object.entries(secrets)) {
    for (const host of hosts) {
      const read = readSecretHost(host)
      if ("fault" in read || read.isPlain || !list || isIntercepted(list, read)) continue
      throw new GloveboxError(
        "SECRET_NEEDS_INTERCEPTION",
        `The secret ${name} is for ${host}, which is reached by TLS, and the gate cannot put a value into what it cannot read. Choose one: (1) let the gate open it, with { to: "${host}", intercept: true } in network.allow: it ends the TLS of this host, reads the requests, puts the value in, and encrypts anew to the real server, whose certificate it verifies; code in the sandbox then trusts a certificate authority made for that one sandbox. (2) Where the service speaks plain HTTP, name it as "http://host:port" in hosts. (3) Keep the secret out of the sandbox: let a tool on the host call the service. (4) Give the code the value itself, by env, if it may have it.`,
      )
    }
  }
}

/** The secrets that can still go somewhere in another network, with only the hosts that are left to them. */
export function secretsWithin(secrets: SecretsFields, network: NetworkFields): SecretsFields {
  const left = Object.entries(secrets ?? {}).flatMap(([name, secret]) => {
    const hosts = secret.hosts.filter((host) => canReach(network, host) && canBePutIn(network, host))
    return hosts.length === 0 ? [] : [[name, { ...secret, hosts }] as const]
  })
  return left.length === 0 ? undefined : Object.fromEntries(left)
}

function canReach(network: NetworkFields, host: string): boolean {
  const list = allowListOf(network)
  const read = readSecretHost(host)
  return list !== undefined && !("fault" in read) && targetsOf(list, read).length > 0
}

function canBePutIn(network: NetworkFields, host: string): boolean {
  const list = allowListOf(network)
  const read = readSecretHost(host)
  return list !== undefined && !("fault" in read) && (read.isPlain || isIntercepted(list, read))
}

function isIntercepted(list: AllowList, host: SecretHost): boolean {
  return targetsOf(list, host).some((rule) => typeof rule === "object" && rule.intercept === true)
}

// By a rule for TLS and HTTP: what passes by any other is never looked at.
function targetsOf(list: AllowList, { target: { host, port } }: SecretHost): AllowList["allow"] {
  return list.allow.filter((rule) => {
    const read = readEgressTarget(typeof rule === "string" ? rule : rule.to)
    const isWeb = typeof rule === "string" || rule.protocol === "web"
    return isWeb && "target" in read && isTarget(read.target, host, port)
  })
}

function notAllowed(host: string): string {
  return `${host} is not reached by a rule for the web in network.allow, so the secret could not go there`
}

function issue(path: readonly (string | number)[], message: string): z.core.$ZodRawIssue {
  return { code: "custom", path: ["secrets", ...path], message, input: undefined }
}
