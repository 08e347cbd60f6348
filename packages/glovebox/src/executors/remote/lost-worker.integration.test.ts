import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { describe, expect, it, onTestFinished } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { gate } from "../../core/gate.test-kit.ts"
import { GrpcWorkerAgentRuntime } from "../../runtimes/grpc/index.ts"
import { GrpcEnds } from "./grpc-ends.test-kit.ts"
import { WasmCodeExecutor } from "../wasm/index.ts"
import { RemoteCodeExecutor } from "./remote-code-executor.ts"
import { serveCodeExecutor } from "./serve-code-executor.ts"

const TSX = import.meta.resolve("tsx")
const from = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href)

/** A worker in a process of its own, with the embedded sandbox. */
async function executorProcess(hostAddress: string): Promise<ChildProcess> {
  const program = `
    import { GrpcWorkerAgentRuntime } from ${from("../../runtimes/grpc/index.ts")}
    import { WasmCodeExecutor } from ${from("../wasm/index.ts")}
    import { serveCodeExecutor } from ${from("index.ts")}
    const runtime = new GrpcWorkerAgentRuntime({ hostAddress: ${JSON.stringify(hostAddress)} })
    const executor = () => new WasmCodeExecutor({ pool: false, timeout: "10m" })
    await serveCodeExecutor(runtime, { executor, maxRunsPerKey: 1, leaseMs: 1000 })
    await runtime.start()
    console.log("ready")
  `
  const args = ["--import", TSX, "--conditions=@glovebox/source", "--input-type=module", "-e", program]
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
  onTestFinished(() => {
    child.kill("SIGKILL")
  })
  await once(child.stdout, "data")
  return child
}

describe("the process that runs the code", () => {
  it("is killed: the run rejects, is not repeated, and another process takes the next", async () => {
    await using ends = await GrpcEnds.start()
    const first = await executorProcess(ends.host.address)
    const executor = new RemoteCodeExecutor({ runtime: ends.near })
    await executor.executeCodeBlocks([{ language: "python", code: "open('kept', 'w').write('x')" }])
    const begun = gate()
    const texts: string[] = []
    const call = executor.executeCodeBlocks(
      [{ language: "python", code: "print('begun', flush=True)\nwhile True: pass" }],
      {
        onOutput: ({ text }) => {
          texts.push(text)
          begun.open()
        },
      },
    )
    await Promise.race([begun.promise, call])
    first.kill("SIGKILL")
    await expectFailure(call, "WORKER_LOST")
    expect(texts).toEqual(["begun\n"])

    await executorProcess(ends.host.address)
    const { stdout, stateLost } = await executor.executeCodeBlocks([
      { language: "python", code: "import os\nprint(os.listdir())" },
    ])
    expect([stdout.includes("kept"), stateLost]).toEqual([false, true])
    expect(texts).toEqual(["begun\n"])
    await executor.stop()
  })

  it("loses its client: the run ends there", async () => {
    await using ends = await GrpcEnds.start()
    await executorProcess(ends.host.address)
    const executor = new RemoteCodeExecutor({ runtime: ends.near })
    const begun = gate()
    const call = executor.executeCodeBlocks(
      [{ language: "python", code: "print('begun', flush=True)\nwhile True: pass" }],
      { onOutput: () => begun.open() },
    )
    await Promise.race([begun.promise, call])
    const rejected = expectFailure(call, "RUNTIME_STOPPED")
    await ends.near.close()
    await rejected
    await using other = new GrpcWorkerAgentRuntime({ hostAddress: ends.host.address })
    await other.start()
    await using second = new RemoteCodeExecutor({ runtime: other, key: executor.key })
    // One run of a key goes on at a time here, and the other would take ten minutes.
    const { stdout } = await second.executeCodeBlocks([{ language: "python", code: "print('free')" }])
    expect(stdout).toBe("free\n")
  })

  it("stops in order: what runs ends, and is read to its end", async () => {
    await using ends = await GrpcEnds.start()
    await using service = await serveCodeExecutor(ends.far, { executor: () => new WasmCodeExecutor() })
    const executor = new RemoteCodeExecutor({ runtime: ends.near })
    const texts: string[] = []
    const begun = gate()
    const code = "import time\nfor n in range(4):\n    print(n, flush=True)\n    time.sleep(0.1)"
    const call = executor.executeCodeBlocks([{ language: "python", code }], {
      onOutput: ({ text }) => {
        texts.push(text)
        begun.open()
      },
    })
    await Promise.race([begun.promise, call])
    await service.drain()
    await ends.far.drain()
    await ends.far.stop()
    expect((await call).exitCode).toBe(0)
    expect(texts.join("")).toBe("0\n1\n2\n3\n")
    await executor.stop()
  })
})
