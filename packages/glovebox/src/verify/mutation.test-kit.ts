import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { Slots } from "../internal/slots.ts"
import type { Engine } from "../executors/docker/engine.ts"
import type { PolicyInput } from "../policy/index.ts"
import { SandboxPolicy } from "../policy/index.ts"
import {
  type Finding,
  type Probe,
  type ProbeContext,
  type SandboxPath,
  type Weakening,
  failed,
  probesFor,
} from "../probes/index.ts"
import { DockerSubject } from "./docker-subject.ts"
import { runProbes } from "./run-probes.ts"
import { Workbench } from "./workbench.ts"

const run = promisify(execFile)

/** Containers of one policy, whole or weakened, and probes in them. */
export class MutationBench implements AsyncDisposable {
  readonly #subject: DockerSubject
  readonly #policy: PolicyInput
  readonly #context: ProbeContext
  readonly #signal = new AbortController().signal

  private constructor(subject: DockerSubject, policy: PolicyInput, context: ProbeContext) {
    this.#subject = subject
    this.#policy = policy
    this.#context = context
  }

  static async open(policy: PolicyInput, path: SandboxPath = "cold"): Promise<MutationBench> {
    const subject = await DockerSubject.open({ tier: "docker", path })
    const { facts } = await subject.prepare(policy, new AbortController().signal)
    return new MutationBench(subject, policy, { policy: new SandboxPolicy(policy).fields, facts })
  }

  /** What the probes find, in this order; while it is not what is wanted, again in the same containers. */
  async findings(
    ids: readonly string[],
    weakenings: readonly Weakening[],
    wanted?: Finding["observed"],
  ): Promise<Finding[]> {
    const all = probesFor(this.#context)
    const probes = ids.map((id) => all.find((probe) => probe.id === id) ?? missing(id))
    await using bench = await Workbench.set({
      subject: this.#subject,
      policy: this.#policy,
      context: this.#context,
      weakenings,
      isControl: false,
      signal: this.#signal,
    })
    for (let turn = 1; ; turn += 1) {
      const found = await this.#run(bench, probes)
      if (wanted === undefined || turn === MOST_TURNS || found.every(({ observed }) => observed === wanted)) {
        return found
      }
    }
  }

  async #run(bench: Workbench, probes: readonly Probe[]): Promise<Finding[]> {
    const found = new Map<string, Finding>()
    await runProbes(probes, {
      bench,
      context: this.#context,
      signal: this.#signal,
      slots: new Slots(2),
      onFinding: ({ id }, finding) => void found.set(id, finding),
    })
    return probes.map(({ id }) => found.get(id) ?? failed("it was not run"))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#subject[Symbol.asyncDispose]()
  }
}

const MOST_TURNS = 20

function missing(id: string): never {
  throw new Error(`There is no probe ${id} for this policy.`)
}

const SCRIPT = [
  "mkdir -p /data && chmod 777 /data",
  `printf '#!/bin/sh\\nsleep 60 &\\nexec "$@"\\n' >/entry && chmod 755 /entry`,
]
const CHANGES = ["VOLUME /data", `ENTRYPOINT ["/entry"]`, "HEALTHCHECK --interval=50ms CMD sleep 60"]

/** Makes an image that runs programs of its own and has a volume that all may write to. */
export async function deriveImage(engine: Engine, base: string, name: string): Promise<void> {
  await engine.ask("derive an image", async (docker) => {
    const container = await docker.createContainer({
      Image: base,
      Entrypoint: ["sh"],
      Cmd: ["-c", SCRIPT.join(" && ")],
      User: "0:0",
      NetworkDisabled: true,
    })
    try {
      await container.start()
      await container.wait()
      const [repo, tag] = name.split(":")
      await container.commit({ repo, tag, changes: CHANGES.join("\n") })
    } finally {
      await container.remove({ force: true, v: true })
    }
  })
}

/** Makes a folder one whose mounts others can take over, as most machines have their root; where this one may not, it is. */
export async function shareFolder(folder: string): Promise<AsyncDisposable> {
  const mount = async (...args: readonly string[]): Promise<unknown> =>
    run("mount", args).catch(() => undefined)
  const isOurs = process.getuid?.() === 0
  if (isOurs) {
    await mount("--bind", folder, folder)
    await mount("--make-shared", folder)
  }
  return {
    [Symbol.asyncDispose]: async () => {
      if (isOurs) await run("umount", ["-l", folder]).catch(() => undefined)
    },
  }
}
