import { randomUUID } from "node:crypto"
import { GloveboxError } from "../core/index.ts"
import type { CodeBlock } from "../executors/code-block.ts"
import type { CodeExecutor, ExecuteOptions } from "../executors/code-executor.ts"
import type { CodeResult } from "../executors/code-result.ts"
import type { ExecutionEvent } from "../executors/execution-event.ts"
import type { ContainerSpec } from "../executors/docker/container-spec.ts"
import type { Engine } from "../executors/docker/engine.ts"
import { NAME_LABEL } from "../executors/docker/ownership.ts"

/**
 * Runs Python as the only program of a container, without an agent: for containers in which no agent would run, such as
 * one that is not process 1. For controls alone.
 */
export class BareExecutor implements CodeExecutor {
  readonly #engine: Engine
  readonly #spec: () => ContainerSpec

  constructor(engine: Engine, spec: () => ContainerSpec) {
    this.#engine = engine
    this.#spec = spec
  }

  async executeCodeBlocks(
    [block]: readonly CodeBlock[],
    { signal }: ExecuteOptions = {},
  ): Promise<CodeResult> {
    signal?.throwIfAborted()
    const spec: ContainerSpec = {
      ...this.#spec(),
      Entrypoint: ["python3"],
      Cmd: ["-c", block?.code ?? ""],
      OpenStdin: false,
      AttachStdin: false,
    }
    // It is read from the log, and removed by hand.
    const host = { ...spec.HostConfig, AutoRemove: false, LogConfig: { Type: "json-file", Config: {} } }
    const name = `glovebox-bare-${randomUUID()}`
    const labels = { ...spec.Labels, [NAME_LABEL]: name }
    const id = await this.#engine.create({ ...spec, Labels: labels, HostConfig: host }, name)
    try {
      return await this.#engine.ask("run a program", async (docker) => {
        const container = docker.getContainer(id)
        await container.start()
        const { StatusCode: exitCode } = (await container.wait()) as { readonly StatusCode: number }
        const read = async (stream: "stdout" | "stderr"): Promise<string> => {
          const log: unknown = await container.logs({ [stream]: true, follow: false })
          return unframed(Buffer.isBuffer(log) ? log : Buffer.from(String(log)))
        }
        const [stdout, stderr] = [await read("stdout"), await read("stderr")]
        return { ...EMPTY, exitCode, stdout, stderr, output: stdout + stderr }
      })
    } finally {
      await this.#engine.remove(id)
    }
  }

  // eslint-disable-next-line require-yield
  async *stream(): AsyncGenerator<ExecutionEvent, void, undefined> {
    throw new GloveboxError("OPTION_INVALID", "A bare container has no events.")
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {}

  async restart(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}

const EMPTY: CodeResult = {
  exitCode: 0,
  output: "",
  stdout: "",
  stderr: "",
  termination: "exit",
  truncated: false,
  durationMs: 0,
  blocks: [],
  artifacts: [],
  artifactsTruncated: false,
  codeFile: "",
  sandbox: { kind: "docker", policySha256: "", isolation: "run", effective: {} },
}

const FRAME_HEADER = 8

// The engine's own frames, one for each piece of output.
function unframed(log: Buffer): string {
  const pieces: Buffer[] = []
  let at = 0
  while (at + FRAME_HEADER <= log.length) {
    const size = log.readUInt32BE(at + 4)
    pieces.push(log.subarray(at + FRAME_HEADER, at + FRAME_HEADER + size))
    at += FRAME_HEADER + size
  }
  return Buffer.concat(pieces).toString("utf8")
}
