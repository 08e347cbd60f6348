import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { type PolicyInput, SandboxPolicy } from "../../policy/index.ts"
import type { ContainerSpec } from "./container-spec.ts"
import { HAS_NO_DOCKER } from "./docker-subject.test-kit.ts"
import { Yard, withHost, withTmpfs } from "./yard.test-kit.ts"
import { launchContainer } from "./launch-container.ts"

let yard: Yard

// What each setting holds back is shown by the mutation test of verify.
describe.skipIf(HAS_NO_DOCKER)("launchContainer", () => {
  beforeAll(async () => {
    yard = await Yard.open()
    await yard.deriveImage()
  })

  afterAll(async () => {
    await yard?.close()
  })

  const cases: [name: string, message: RegExp, weaken: (spec: ContainerSpec) => ContainerSpec][] = [
    ["user", /user is/, () => yard.spec({ user: "0:0" })],
    ["network", /network/, () => yard.spec({ network: { dangerously: "bridge" } })],
    ["memory", /memory/, () => yard.spec({ limits: { memory: "1GiB" } })],
    ["memory, removed", /memory/, (spec) => withHost(spec, { Memory: 0, MemorySwap: 0 })],
    ["swap", /swap/i, (spec) => withHost(spec, { MemorySwap: -1 })],
    ["processors", /cpus/, (spec) => withHost(spec, { NanoCpus: 0 })],
    ["pids", /process limit|pids/, () => yard.spec({ limits: { pids: 1000 } })],
    ["pids, removed", /process limit|pids/, (spec) => withHost(spec, { PidsLimit: 0 })],
    ["capabilities", /capabilit/, () => yard.spec({ capabilities: ["CHOWN"] })],
    ["capabilities, not dropped", /capabilit/, (spec) => withHost(spec, { CapDrop: [] })],
    ["readOnlyRoot", /read-only|readOnlyRoot/, () => yard.spec({ readOnlyRoot: false })],
    [
      "noNewPrivileges",
      /NoNewPrivs|noNewPrivileges/,
      (spec) => withHost(spec, { SecurityOpt: spec.HostConfig.SecurityOpt.slice(1) }),
    ],
    ["seccomp", /Seccomp/i, () => yard.spec({ seccomp: { dangerously: "unconfined" } })],
    ["seccomp, the engine's", /Seccomp/i, (spec) => withHost(spec, { SecurityOpt: ["no-new-privileges"] })],
    ["workspace", /workspace/, (spec) => withTmpfs(spec, "/workspace", /^size=/)],
    ["files", /files/, (spec) => withTmpfs(spec, "/workspace", /^nr_inodes=/)],
    ["a volume of the image", /mount of \/data/, () => uncovered(yard.spec({}, "derived"))],
  ]

  const launch = (policy: PolicyInput, spec: ContainerSpec): Promise<AsyncDisposable> =>
    launchContainer({
      engine: yard.engine,
      policy: new SandboxPolicy(policy).fields,
      spec,
      kind: "python",
      keep: false,
    })

  it("gives a container that is what the policy asks for", async () => {
    await using container = await launch({}, yard.spec())
    expect(container).toBeDefined()
  })

  it.each(cases)("refuses one that is wider than the policy: %s", async (_name, message, weaken) => {
    const launching = launch({}, weaken(yard.spec()))
    launching.then(
      async (container) => container[Symbol.asyncDispose](),
      () => {},
    )
    await expectFailure(launching, "SANDBOX_UNENFORCEABLE", message)
  })
})

function uncovered(spec: ContainerSpec): ContainerSpec {
  const { "/data": _cover, ...Tmpfs } = spec.HostConfig.Tmpfs
  return withHost(spec, { Tmpfs })
}
