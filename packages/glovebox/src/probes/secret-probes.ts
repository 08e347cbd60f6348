import { CONTAINERS, inside } from "./define-probe.ts"
import type { Probe } from "./probe.ts"
import { reachesAgent } from "./promises.ts"
import { ALL_POWERS } from "./weakening.ts"

// Set by engines, runtimes and shells for every program.
const ALWAYS_SET = ["PATH", "HOME", "HOSTNAME", "PWD", "SHLVL", "_", "TERM", "container", "LC_CTYPE"]
const SECRET_PLACES = [
  "/run/secrets",
  "/var/run/secrets/kubernetes.io/serviceaccount/token",
  "/root/.ssh",
  "/root/.aws",
  "/root/.docker/config.json",
  "/root/.kube/config",
  "/root/.config/gcloud",
  "/root/.netrc",
  "/root/.npmrc",
  "/workspace/.ssh",
  "/workspace/.aws",
  "/etc/shadow",
]

/** Variables, keys and names of the host. */
export const SECRET_PROBES: readonly Probe[] = [
  inside("secrets", {
    id: "secrets.environment",
    title: "find variables that neither the policy nor the image sets",
    why: "keys of services are in variables",
    attack: "environment",
    given: ({ policy, facts }) => ({
      known: [...ALWAYS_SET, ...facts.knownEnv, ...Object.keys(policy.env)],
    }),
    weakened: ["host-env"],
    quick: true,
  }),
  inside("secrets", {
    id: "secrets.host-value",
    title: "find a value of this process's environment: in variables, in commands",
    why: "so secrets of a service came out of its sandboxes",
    weakened: ["host-env"],
    attack: "secret_value",
    watch: async ({ token, canary }) => {
      const name = `GLOVEBOX_CANARY_${token}`
      process.env[name] = canary.secret
      const dispose = async (): Promise<void> => void Reflect.deleteProperty(process.env, name)
      return { given: { secret: canary.secret }, [Symbol.asyncDispose]: dispose }
    },
  }),
  inside("secrets", {
    id: "secrets.agent",
    title: "read what process 1, the agent, was given: environ, maps, memory",
    why: "what the host tells the agent is not for the code",
    attack: "agent_environment",
    expects: reachesAgent,
    weakened: ALL_POWERS,
    quick: true,
  }),
  inside("secrets", {
    id: "secrets.files",
    title: "find keys and tokens where they usually are",
    why: "orchestrators and developers' machines keep them there",
    attack: "secret_files",
    given: () => ({ paths: SECRET_PLACES }),
    expects: ({ policy }) =>
      policy.mounts.some(({ target }) => SECRET_PLACES.some((place) => place.startsWith(target)))
        ? undefined
        : "BLOCKED",
    weakened: ["secret-mount"],
    quick: true,
  }),
  inside("secrets", {
    id: "secrets.host-name",
    title: "learn the name of this machine",
    why: "it tells where the code runs, and often for whom",
    tiers: CONTAINERS,
    expects: ({ facts, policy }) =>
      facts.isLocal && !(typeof policy.network === "object" && "dangerously" in policy.network)
        ? "BLOCKED"
        : undefined,
    weakened: ["host-uts"],
    attack: "machine_name",
    watch: async ({ hostName }) => ({ given: { name: hostName } }),
  }),
]
