import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { findEngine } from "../executors/docker/engine-address.ts"
import { Engine } from "../executors/docker/engine.ts"
import { Slots } from "../internal/slots.ts"
import type { PolicyInput } from "../policy/index.ts"
import type { Finding } from "../probes/index.ts"
import { MUTATIONS, type Mutation, SMALL_LIMITS } from "./docker-mutations.test-kit.ts"
import { MutationBench, deriveImage, shareFolder } from "./mutation.test-kit.ts"
import { HAS_NO_DOCKER, POLICY } from "./verify.test-kit.ts"

const DERIVED = `glovebox/test-mutation:${process.pid}`
const AT_ONCE = 3

type Kind = NonNullable<Mutation["needs"]> | "plain"

// Some settings are for what not every policy has.
function policyOf(kind: Kind, folder: string): PolicyInput {
  const plain = { ...POLICY, limits: SMALL_LIMITS }
  switch (kind) {
    case "mount":
      return { ...plain, mounts: [{ source: folder, target: "/in", mode: "ro" }] }
    case "own image":
      return { ...plain, image: DERIVED }
    case "own kernel":
      return { ...POLICY, runtime: "runsc" }
    case "plain":
      return plain
    default:
      return kind satisfies never
  }
}

describe.skipIf(HAS_NO_DOCKER)("each setting of a container", () => {
  let engine: Engine
  let folder = ""
  let shared: AsyncDisposable | undefined
  let hasOwnKernel = false
  const whole = new Map<string, Finding>()
  const weakened = new Map<Mutation, Finding>()

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "glovebox-mutation-"))
    chmodSync(folder, 0o777)
    shared = await shareFolder(folder)
    engine = new Engine(await findEngine())
    hasOwnKernel = Object.hasOwn((await engine.info()).runtimes, "runsc")
    await deriveImage(engine, POLICY.image, DERIVED)
    const slots = new Slots(AT_ONCE)
    const kinds: Kind[] = ["plain", "mount", "own image", ...(hasOwnKernel ? ["own kernel" as const] : [])]
    await Promise.all(kinds.map(async (kind) => tryAll(kind, slots)))
  })

  afterAll(async () => {
    await engine?.removeImage(DERIVED)
    engine?.close()
    await shared?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  async function tryAll(kind: Kind, slots: Slots): Promise<void> {
    const mutations = MUTATIONS.filter(({ needs = "plain" }) => needs === kind)
    // A health check takes a while to run: it is looked for in one container, again and again.
    const isAgain = kind === "own image"
    await using bench = await MutationBench.open(policyOf(kind, folder), isAgain ? "session" : "cold")
    const ids = [...new Set(mutations.map(({ probe }) => probe))]
    const unhurt = await bench.findings(ids, [])
    for (const [at, id] of ids.entries()) whole.set(keyOf(kind, id), unhurt[at]!)
    await Promise.all(
      mutations.map(async (mutation) => {
        using _slot = { [Symbol.dispose]: await slots.take(new AbortController().signal) }
        const [found] = await bench.findings([mutation.probe], mutation.by, isAgain ? "ALLOWED" : undefined)
        weakened.set(mutation, found!)
      }),
    )
  }

  it.each(MUTATIONS.map((mutation) => [mutation.settings.join(" and "), mutation] as const))(
    "%s: without it a probe sees an attack work",
    (_settings, mutation) => {
      const { needs = "plain", probe } = mutation
      if (needs === "own kernel" && !hasOwnKernel) return
      expect(whole.get(keyOf(needs, probe))).toMatchObject({ observed: "BLOCKED" })
      expect(weakened.get(mutation)).toMatchObject({ observed: "ALLOWED" })
    },
  )
})

function keyOf(kind: Kind, probe: string): string {
  return `${kind} ${probe}`
}
