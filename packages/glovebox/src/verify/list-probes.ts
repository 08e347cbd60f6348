import { TUNNEL_PORT } from "../executors/sandbox/tunnel.ts"
import { type PolicyInput, type SandboxPolicy, allowListOf } from "../policy/index.ts"
import { type Expectation, type Family, type Probe, probesFor } from "../probes/index.ts"
import { type VerifyOptions, readVerifyOptions } from "./verify-options.ts"

export interface ListedProbe {
  readonly id: string
  readonly family: Family
  readonly title: string
  readonly why: string
  readonly isQuick: boolean
  readonly expected: Expectation
  /** What is taken away to show that the probe can fail. */
  readonly control: readonly string[]
}

/** What would be run for a policy, as far as can be told without the sandbox. */
export function listProbes(
  given: SandboxPolicy | PolicyInput = {},
  options: VerifyOptions = {},
): ListedProbe[] {
  const { policy, sandbox, path, mode } = readVerifyOptions(given, options)
  const { fields } = policy
  const context = {
    policy: fields,
    facts: {
      tier: sandbox,
      path,
      hasOwnKernel: false,
      knownEnv: [],
      imageVolumes: [],
      hostKernel: undefined,
      proxyPort: allowListOf(fields.network) === undefined ? undefined : TUNNEL_PORT,
      isLocal: true,
    },
  }
  return probesFor(context)
    .filter(({ isQuick }) => isQuick || mode !== "quick")
    .map((probe) => {
      const { id, family, title, why, isQuick } = probe
      const expected = probe.expects(context) ?? "BLOCKED"
      return { id, family, title, why, isQuick, expected, control: controlOf(probe) }
    })
}

function controlOf({ control }: Probe): readonly string[] {
  if (!control) return []
  if (control.kind === "weakened") return control.by
  return [control.kind === "planted" ? "planted" : control.how]
}
