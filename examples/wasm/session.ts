// Python and TypeScript with nothing but Node; variables stay from call to call.
//   npx tsx examples/wasm/session.ts
import { WasmCodeExecutor } from "glovebox/executors/wasm"

await using executor = new WasmCodeExecutor({ isolation: "session", memory: "128MiB", timeout: "20s" })

async function run(language: string, code: string): Promise<void> {
  const { output, termination } = await executor.executeCodeBlocks([{ language, code }])
  console.log(`${language}, ${termination}: ${output.trimEnd().split("\n").at(-1)}`)
}

await run("python", "import json, statistics\nheights = [1.71, 1.64, 1.93]\nprint('kept')")
await run("python", "json.dump({'mean': statistics.mean(heights)}, open('mean.json', 'w'))\nprint(heights)")
await run(
  "typescript",
  "import fs from 'fs'\nconst { mean }: { mean: number } = JSON.parse(fs.readFileSync('mean.json', 'utf8'))\nconsole.log(mean)",
)
await run("python", "hoard = [bytearray(1_000_000) for _ in range(1_000)]")
await run("python", "import numpy")

/* Prints:
python, exit: kept
python, exit: [1.71, 1.64, 1.93]
typescript, exit: 1.76
python, oom: MemoryError
python, exit: glovebox: the embedded sandbox has the standard library only, and no packages such as numpy; the docker, jupyter and bubblewrap executors have more.
*/
