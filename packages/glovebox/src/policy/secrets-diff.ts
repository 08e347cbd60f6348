import { type PolicyChange, changed, compareSets } from "./policy-change.ts"
import { type SecretFields, type SecretsFields, secretVariable } from "./secret-schema.ts"

/** What changes from some secrets to others: a host more is a place more that a value goes to. */
export function compareSecrets(before: SecretsFields = {}, after: SecretsFields = {}): PolicyChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()
  return names.flatMap((name) => compareSecret(name, before[name], after[name]))
}

function compareSecret(
  name: string,
  before: SecretFields | undefined,
  after: SecretFields | undefined,
): PolicyChange[] {
  const path = `secrets.${name}`
  if (!before || !after) {
    const [from, to] = [before, after].map((secret) => (secret ? describeSecret(name, secret) : "absent"))
    return changed(path, from ?? "", to ?? "", after ? "widens" : "narrows")
  }
  return [
    ...compareSets(`${path}.hosts`, before.hosts, after.hosts),
    ...changed(path, describeUse(name, before), describeUse(name, after), "changes"),
  ]
}

function describeSecret(name: string, secret: SecretFields): string {
  return `to ${secret.hosts.join(", ")}, ${describeUse(name, secret)}`
}

function describeUse(name: string, secret: SecretFields): string {
  const { header, format } = secret
  const how =
    header === undefined
      ? "where its placeholder stands in a header"
      : `as header ${header}${format === undefined ? "" : ` ${JSON.stringify(format)}`}`
  return `${how}, placeholder in ${secretVariable(name, secret)}`
}
