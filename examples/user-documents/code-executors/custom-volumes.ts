// Custom volumes: data that may be read, and a folder that may be written to.
//   npx tsx examples/user-documents/code-executors/custom-volumes.ts
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"

const data = fileURLToPath(new URL("../data", import.meta.url))
const models = await mkdtemp(join(tmpdir(), "models-"))
await chmod(models, 0o777) // for the sandbox's user, who is nobody on this machine

await using executor = new DockerCommandLineCodeExecutor({
  image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "python:3-slim",
  extraVolumes: {
    [data]: { bind: "/mnt/data", mode: "ro" },
    [models]: { bind: "/mnt/models", mode: "rw" },
  },
})

await executor.executeCodeBlocks([
  {
    language: "python",
    code: `import csv, json, statistics
heights = [float(row["height"]) for row in csv.DictReader(open("/mnt/data/heights.csv"))]
json.dump({"mean": round(statistics.mean(heights), 2)}, open("/mnt/models/model.json", "w"))`,
  },
])
console.log(await readFile(join(models, "model.json"), "utf8"))
console.log(executor.policy.widenings().map(({ path }) => path))
await rm(models, { recursive: true })

/* Prints:
{"mean": 1.76}
[ 'mounts', 'mounts' ]
*/
