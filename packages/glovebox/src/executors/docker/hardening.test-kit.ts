import type Docker from "dockerode"
import { type PolicyInput, SandboxPolicy } from "../../policy/index.ts"
import { agentCommand } from "../sandbox/agent-command.ts"
import { engineChannel } from "./engine-channel.ts"
import { type ContainerSpec, containerSpec } from "./container-spec.ts"
import { findEngine } from "./engine-address.ts"
import { Engine } from "./engine.ts"
import { FramedAgent } from "../sandbox/framed-agent.ts"

const IMAGE = "glovebox/sandbox:py3"
const TEST_LABEL = "org.glovebox.test"
/** What this process makes, so that it removes nothing of another's. */
const LABELS = { [TEST_LABEL]: "1", "org.glovebox.test.process": String(process.pid) }
const DERIVED = `glovebox/test-hardening:${process.pid}`

/** What came of an attack. */
export interface Attempt {
  /** Whether it did what it wanted. */
  readonly done: boolean
  readonly value?: unknown
  /** The name of the error, or how it was ended. */
  readonly error?: string | undefined
}

/** A container whose agent waits, made without the check that refuses a weaker one. */
export interface Target {
  readonly id: string
  readonly agent: FramedAgent
  /** Runs Python code that defines `attack()`; what that returns is the value. */
  attack(code: string): Promise<Attempt>
  remove(): Promise<void>
}

const PRELUDE = `
import ctypes, errno, json, os, resource, shutil, socket, subprocess, sys, time

def python(program, code):
    """What another copy of the interpreter prints."""
    variables = dict(os.environ, PYTHONHOME=sys.base_prefix)
    return subprocess.run([program, "-c", code], env=variables, capture_output=True).stdout.decode()
`

const EPILOGUE = `
try:
    value = attack()
    print(json.dumps({"done": value is not False, "value": value}))
except OSError as error:
    print(json.dumps({"done": False, "error": errno.errorcode.get(error.errno, str(error))}))
except MemoryError:
    print(json.dumps({"done": False, "error": "MemoryError"}))
`

/** The engine, and a derived image that is as hostile as an image can be. */
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

  /** Makes an image with a secret of root's, a setuid program, a volume that all may write to, and a health check. */
  async deriveImage(): Promise<void> {
    const script = [
      'cp "$(readlink -f "$(command -v python3)")" /usr/local/bin/rootpython && chmod 4755 /usr/local/bin/rootpython',
      "echo secret >/etc/secret && chmod 600 /etc/secret",
      "mkdir -p /data && chmod 777 /data",
    ]
    const changes = ["VOLUME /data", "HEALTHCHECK --interval=200ms CMD touch /workspace/healthy"]
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

  async launch(spec: ContainerSpec): Promise<Target> {
    const { engine } = this
    const id = await engine.create(spec)
    const remove = async (): Promise<void> => engine.remove(id)
    try {
      const channel = engineChannel(await engine.attach(id))
      await engine.start(id)
      const agent = await FramedAgent.greet(channel)
      return { id, agent, remove, attack: async (code) => attackWith(agent, code) }
    } catch (error) {
      await remove().catch(() => {})
      throw error
    }
  }

  /** Runs an attack in a container of its own. */
  async attack(spec: ContainerSpec, code: string): Promise<Attempt> {
    const target = await this.launch(spec)
    try {
      return await target.attack(code)
    } finally {
      await target.remove()
    }
  }

  /** The attack against both containers, at the same time. */
  async both(
    hardened: ContainerSpec,
    weakened: ContainerSpec,
    code: string,
  ): Promise<{ readonly hardened: Attempt; readonly weakened: Attempt }> {
    const [first, second] = await Promise.all([this.attack(hardened, code), this.attack(weakened, code)])
    return { hardened: first, weakened: second }
  }

  async state(id: string): Promise<Docker.ContainerInspectInfo | undefined> {
    return this.engine.ask("look at a container", async (docker) =>
      docker
        .getContainer(id)
        .inspect()
        .catch((error: { statusCode?: number }) => {
          if (error.statusCode === 404) return undefined
          throw error
        }),
    )
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

async function attackWith(agent: FramedAgent, code: string): Promise<Attempt> {
  await agent.put([
    { path: "attack.py", content: Buffer.from(`${PRELUDE}${code}${EPILOGUE}`), executable: false },
  ])
  const output: Record<"stdout" | "stderr", string> = { stdout: "", stderr: "" }
  const {
    code: status,
    signal,
    limits,
  } = await agent.run({
    argv: ["python3", "attack.py"],
    how: "exec",
    onOutput: (stream, bytes) => (output[stream] += bytes.toString()),
  })
  const line = output.stdout.trim().split("\n").at(-1) ?? ""
  if (status === 0 && line.startsWith("{")) return JSON.parse(line) as Attempt
  if (signal === null && limits.length === 0) throw new Error(`The attack itself failed: ${output.stderr}`)
  return { done: false, error: signal === null ? `exit ${status}` : `signal ${signal}` }
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

/** Polls until it is so; fails after ten seconds. */
export async function eventually(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 10_000
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`It never came about: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
