import { parseArgs } from "node:util"
import type { Bench } from "./bench.ts"
import { BenchError } from "./bench-error.ts"

// Imported only when asked for, so that one bench does not load what another needs.
const BENCHES = new Map<string, () => Promise<Bench>>([
  ["audit", async () => (await import("./audit/audit-bench.ts")).auditBench],
  ["chat", async () => (await import("./chat/chat-bench.ts")).chatBench],
  ["core", async () => (await import("./core/core-bench.ts")).coreBench],
  ["docker", async () => (await import("./docker/docker-bench.ts")).dockerBench],
  ["egress", async () => (await import("./egress/egress-bench.ts")).egressBench],
  ["executors", async () => (await import("./executors/executors-bench.ts")).executorsBench],
  ["grpc", async () => (await import("./grpc/grpc-bench.ts")).grpcBench],
])

const USAGE = `Usage: npm run bench -- <name> [--json]\nKnown names: ${[...BENCHES.keys()].join(", ")}`

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  const request = readArguments(args)
  if (typeof request === "string") {
    console.error(`${request}\n${USAGE}`)
    return 2
  }
  try {
    const bench = await request.load()
    const numbers = await bench((line) => console.log(line))
    if (request.isJson) console.log(JSON.stringify(numbers))
    return 0
  } catch (error) {
    console.error(error instanceof BenchError ? error.message : error)
    return 1
  }
}

/** What to run, or what is wrong with the arguments. */
function readArguments(args: readonly string[]): { load: () => Promise<Bench>; isJson: boolean } | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { json: { type: "boolean", default: false } },
    })
    const [name, ...rest] = positionals
    if (name === undefined) return "Name a bench."
    if (rest.length > 0) return `One bench at a time, not also ${rest.join(", ")}.`
    const load = BENCHES.get(name)
    return load ? { load, isJson: values.json } : `There is no bench "${name}".`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
