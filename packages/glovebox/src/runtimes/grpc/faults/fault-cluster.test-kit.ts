import { mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { GrpcWorkerAgentRuntimeHostOptions, GrpcWorkerAgentRuntimeOptions } from "../index.ts"
import { BundledPrograms } from "./bundled-programs.test-kit.ts"
import { FaultProcess } from "./fault-process.test-kit.ts"
import { type Happening, Recorder, readRecord } from "./record.test-kit.ts"
import type { WorkerProgramOptions } from "./worker-program.test-kit.ts"

export interface WorkerStart {
  readonly hasAgents?: boolean | undefined
  readonly hostAddress?: string | undefined
  readonly runtime?: Partial<GrpcWorkerAgentRuntimeOptions> | undefined
  readonly under?: readonly string[] | undefined
}

/** A process and the name under which the record knows it. */
export interface Named {
  readonly name: string
  readonly process: FaultProcess
}

type Program = "host-program" | "worker-program"

/** A host and workers, each in a process of its own, that write down what happens to a common record. */
export class FaultCluster implements AsyncDisposable {
  readonly address: string
  readonly #hostOptions: GrpcWorkerAgentRuntimeHostOptions
  readonly #under: readonly string[]
  readonly #programs: BundledPrograms
  readonly #folder: string
  readonly #recorder: Recorder
  readonly #processes = new Set<FaultProcess>()
  // Programs take long to load; one that has is there at once when another was killed.
  readonly #spares: Record<Program, FaultProcess[]> = { "host-program": [], "worker-program": [] }
  #host: FaultProcess | undefined
  #started = 0

  private constructor(
    programs: BundledPrograms,
    folder: string,
    options: GrpcWorkerAgentRuntimeHostOptions,
    under: readonly string[],
  ) {
    this.#programs = programs
    this.#folder = folder
    this.address = options.address
    this.#hostOptions = options
    this.#under = under
    this.#recorder = new Recorder(join(folder, "record"), "test")
  }

  static async start(
    options: Partial<GrpcWorkerAgentRuntimeHostOptions> = {},
    under: readonly string[] = [],
  ): Promise<FaultCluster> {
    const address = options.address ?? `127.0.0.1:${await freePort()}`
    const folder = await mkdtemp(join(tmpdir(), "glovebox-faults-"))
    const cluster = new FaultCluster(await BundledPrograms.build(), folder, { ...options, address }, under)
    await cluster.#startHost()
    return cluster
  }

  get host(): FaultProcess {
    if (!this.#host) throw new Error("There is no host.")
    return this.#host
  }

  /** Everything that happened so far, in the order of time. */
  get record(): readonly Happening[] {
    return readRecord(join(this.#folder, "record"))
  }

  /** Has this many programs loaded, for starts that take no time. */
  async spare(program: Program, count: number): Promise<void> {
    const spares = this.#spares[program]
    while (spares.length < count) spares.push(this.#load(program))
    await Promise.all(spares.map(async (spare) => await spare.call("memory")))
  }

  /** A worker that has a connection when this resolves. */
  async startWorker({ hasAgents = true, hostAddress, runtime, under }: WorkerStart = {}): Promise<Named> {
    const name = `w${++this.#started}`
    const options: WorkerProgramOptions = {
      name,
      hasAgents,
      record: join(this.#folder, "record"),
      // A host may be stopped or away while a worker starts.
      runtime: { hostAddress: hostAddress ?? this.address, connectTimeoutMs: 60_000, ...runtime },
    }
    const process = under ? this.#load("worker-program", under) : this.#take("worker-program")
    await process.call("start", { options })
    return { name, process }
  }

  async killWorker({ name, process }: Named): Promise<void> {
    this.#recorder.write("killed", { worker: name })
    await process.kill()
  }

  stopWorker({ name, process }: Named): void {
    this.#recorder.write("stopped", { worker: name })
    process.signal("SIGSTOP")
  }

  continueWorker({ name, process }: Named): void {
    process.signal("SIGCONT")
    this.#recorder.write("continued", { worker: name })
  }

  async restartHost(): Promise<void> {
    await this.host.kill()
    await this.#startHost()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#processes].map((process) => process.kill()))
    await rm(this.#folder, { recursive: true, force: true })
    await this.#programs[Symbol.asyncDispose]()
  }

  async #startHost(): Promise<void> {
    this.#host = this.#take("host-program")
    await this.#host.call("start", { options: this.#hostOptions })
  }

  #take(program: Program): FaultProcess {
    const spares = this.#spares[program]
    const taken = spares.shift()
    if (!taken) return this.#load(program)
    spares.push(this.#load(program))
    return taken
  }

  #load(program: Program, under: readonly string[] = this.#under): FaultProcess {
    const process = new FaultProcess(this.#programs.path(program), under)
    this.#processes.add(process)
    return process
  }
}

// Below those that the system gives to outgoing connections, so that it is free again after a restart.
const FIRST_PORT = 20_000
const PORTS = 10_000

async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false))
      server.listen(port, "127.0.0.1", () => resolve(true))
    })
    await new Promise((resolve) => server.close(resolve))
    if (isFree) return port
  }
}
