import type { AccessRequest } from "../../core/index.ts"
import type { RuleFit } from "./access-rule.ts"

/** What was refused, to be recorded. */
export interface AccessDenial {
  readonly agent: string
  /** The agent's type at the runtime; undefined for one that runs without. */
  readonly agentType: string | undefined
  readonly kind: AccessRequest["kind"]
  readonly name: string
  readonly policySha256: string | undefined
  /** Why, and what can be done. */
  readonly message: string
}

export function describeDenial(request: AccessRequest, fits: readonly RuleFit[]): AccessDenial {
  const { agent, agentType, kind, name, policy } = request
  const near = nearRules(fits)
  const why = near === "" ? "no rule is about either" : near
  return {
    agent,
    agentType,
    kind,
    name,
    policySha256: policy?.sha256,
    message: `Agent ${JSON.stringify(agent)} may not use the ${kind} ${JSON.stringify(name)}: ${why}; do not try it again, and if it should be allowed, whoever runs the agent adds a rule for it.`,
  }
}

// Of many rules only the nearest help.
const MOST = 3

function nearRules(fits: readonly RuleFit[]): string {
  const numbered = fits.map((fit, index) => ({ ...fit, at: `rules[${index}]` }))
  const lines = [
    ...numbered
      .filter(({ agent, name }) => agent && name)
      .map(
        ({ at, wider }) =>
          `${at} allows it only within its policy, which this one exceeds (${wider.join(", ")})`,
      ),
    ...numbered
      .filter(({ agent, name }) => agent && !name)
      .map(({ at }) => `${at} allows this agent other things`),
    ...numbered
      .filter(({ agent, name }) => !agent && name)
      .map(({ at }) => `${at} allows it to other agents`),
  ]
  return lines.slice(0, MOST).join(", ")
}
