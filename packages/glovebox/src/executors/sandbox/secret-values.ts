import { GloveboxError } from "../../core/index.ts"
import { type GateSecret, LEAST_SECRET_LENGTH, makePlaceholder } from "../../egress/index.ts"
import { type SecretsFields, secretVariable } from "../../policy/index.ts"
import type { KnownSecret } from "../known-secret.ts"

const MOST_BYTES = 8 * 1024

/** Options that give an executor the values of its policy's secrets. */
export interface SecretOptions {
  /** Values by name. @default the variable of this process with the secret's name, read at each start */
  readonly secretValues?: Readonly<Record<string, string>> | undefined
}

/**
 * The secrets of a policy with their values; one whose value is the same as before keeps its placeholder, which may be
 * in files. @throws SECRET_MISSING, OPTION_INVALID
 */
export function readSecrets(
  secrets: SecretsFields,
  { secretValues = {} }: SecretOptions,
  before: readonly GateSecret[],
): readonly GateSecret[] {
  const unknown = Object.keys(secretValues).filter((name) => !Object.hasOwn(secrets ?? {}, name))
  if (unknown.length > 0)
    throw invalid(
      `secretValues has ${unknown.join(", ")}, and the policy has no such secret: name its hosts there.`,
    )
  return Object.entries(secrets ?? {}).map(([name, { hosts, header, format }]) => {
    const value = Object.hasOwn(secretValues, name) ? secretValues[name] : process.env[name]
    if (value === undefined || value === "")
      throw new GloveboxError(
        "SECRET_MISSING",
        `The policy has the secret ${name}, and there is no value for it: set the variable ${name} of this process, or give secretValues: { ${name}: ... } to the executor.`,
      )
    checkValue(name, value)
    const known = before.find((other) => other.name === name && other.value === value)
    return { name, value, hosts, header, format, placeholder: known?.placeholder ?? makePlaceholder(value) }
  })
}

/** The variables in which code finds the placeholders. */
export function placeholderVariables(
  secrets: SecretsFields,
  known: readonly KnownSecret[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    known.map(({ name, placeholder }) => [secretVariable(name, secrets![name]!), placeholder]),
  )
}

// Nothing of the value is in these words.
function checkValue(name: string, value: string): void {
  if (value.length < LEAST_SECRET_LENGTH)
    throw invalid(
      `The value of the secret ${name} is shorter than ${LEAST_SECRET_LENGTH} characters: nothing that short can be told from other text, so it could not be kept from coming back.`,
    )
  if (value.length > MOST_BYTES)
    throw invalid(`The value of the secret ${name} is longer than ${MOST_BYTES} bytes.`)
  if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value))
    throw invalid(
      `The value of the secret ${name} is not one line of printable ASCII without blanks around it, so no header can have it. Is there a line end behind it?`,
    )
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("OPTION_INVALID", message)
}
