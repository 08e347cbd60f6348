import { type PolicyInput, SandboxPolicy } from "../../policy/index.ts"
import { agentCommand } from "../sandbox/agent-command.ts"
import { type ContainerSpec, containerSpec } from "./container-spec.ts"
import { findEngine } from "./engine-address.ts"
import { Engine } from "./engine.ts"

const IMAGE = "glovebox/sandbox:py3"
const TEST_LABEL = "org.glovebox.test"
/** What this process makes, so that it removes nothing of another's. */
const LABELS = { [TEST_LABEL]: "1", "org.glovebox.test.process": String(process.pid) }
const DERIVED = `glovebox/test-hardening:${process.pid}`

/** The engine, and an image derived for the tests. */
export class Yard {
  readonly engine: Engine
  readonly #imageId: string
  readonly #architecture: string
  readonly #command: readonly string[]
  #derivedId: string | undefined

  private constructor(engine: Engine, imageId: string, architecture: string, command: readonly string[]) {
    this.engine = engine
    this.#imageId = imageId
    this.#architecture = architecture
    this.#command = command
  }

  static async open(): Promise<Yard> {
    const engine = new Engine(await findEngine())
    const [info, image, command] = await Promise.all([
      engine.info(),
      engine.image(IMAGE),
      agentCommand({
        kind: "python",
        programs: ["python3"],
        keepsReady: false,
        isSuspicious: false,
        leaseMs: 600_000,
      }),
    ])
    if (!image) throw new Error(`The engine has no ${IMAGE}: run scripts/engine.`)
    return new Yard(engine, image.id, info.architecture, command)
  }

  /** The spec of a policy, as the executor writes it; with `derived`, for the hostile image. */
  spec(policy: PolicyInput = {}, image: "plain" | "derived" = "plain"): ContainerSpec {
    return containerSpec({
      policy: new SandboxPolicy(policy).fields,
      imageId: image === "plain" ? this.#imageId : this.derivedId,
      imageVolumes: image === "plain" ? [] : ["/data"],
      command: this.#command,
      architecture: this.#architecture,
      runtime: "runc",
      isPodman: false,
      labels: LABELS,
      extraHosts: {},
      deviceRequests: [],
      autoRemove: true,
      endsWithConnection: true,
      env: {},
    })
  }

  get derivedId(): string {
    if (this.#derivedId === undefined) throw new Error("The derived image has not been made.")
    return this.#derivedId
  }

  /** Makes an image with a volume that all may write to. */
  async deriveImage(): Promise<void> {
    const script = ["mkdir -p /data && chmod 777 /data"]
    const changes = ["VOLUME /data"]
    this.#derivedId = await this.engine.ask("derive an image", async (docker) => {
      const container = await docker.createContainer({
        Image: this.#imageId,
        Entrypoint: ["sh"],
        Cmd: ["-c", script.join(" && ")],
        User: "0:0",
        Labels: LABELS,
        NetworkDisabled: true,
      })
      await container.start()
      await container.wait()
      const [repo, tag] = DERIVED.split(":")
      await container.commit({ repo, tag, changes: changes.join("\n") })
      await container.remove({ force: true })
      return (await docker.getImage(DERIVED).inspect()).Id
    })
  }

  async close(): Promise<void> {
    const left = await this.engine.list([`org.glovebox.test.process=${process.pid}`])
    await Promise.all(left.map(async ({ id }) => this.engine.remove(id)))
    if (this.#derivedId !== undefined) {
      await this.engine.ask("remove an image", async (docker) =>
        docker.getImage(DERIVED).remove({ force: true }),
      )
    }
    this.engine.close()
  }
}

/** The spec with some settings of its HostConfig changed, and nothing else. */
export function withHost(spec: ContainerSpec, changes: Readonly<Record<string, unknown>>): ContainerSpec {
  return { ...spec, HostConfig: { ...spec.HostConfig, ...changes } }
}

/** The spec with an option of one tmpfs taken away, or another in its place. */
export function withTmpfs(
  spec: ContainerSpec,
  place: string,
  option: RegExp,
  instead?: string,
): ContainerSpec {
  const { Tmpfs } = spec.HostConfig
  const options = (Tmpfs[place] ?? "").split(",")
  const left = options.filter((text) => !option.test(text))
  if (left.length === options.length) throw new Error(`${place} has no option ${String(option)}`)
  const changed = instead === undefined ? left : [...left, instead]
  return withHost(spec, { Tmpfs: { ...Tmpfs, [place]: changed.join(",") } })
}
