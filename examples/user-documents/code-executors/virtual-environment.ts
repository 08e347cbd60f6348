// Virtual environment: packages go there, and not into this machine's own Python. Needs python3 with venv.
//   npx tsx examples/user-documents/code-executors/virtual-environment.ts
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { LocalCommandLineCodeExecutor, createVirtualEnvironment } from "glovebox/executors/local"

// pip's own settings, such as an index of yours, are not passed unless you do so.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("PIP_")))

const workDir = await mkdtemp(join(tmpdir(), "coding-"))
const virtualEnvContext = await createVirtualEnvironment(join(workDir, ".venv"))
{
  await using executor = new LocalCommandLineCodeExecutor({
    dangerouslyRunOnHost: true,
    workDir,
    virtualEnvContext,
    env: env as Record<string, string>,
  })
  const installed = await executor.executeCodeBlocks([{ language: "bash", code: "pip install requests" }])
  if (installed.exitCode !== 0) throw new Error(installed.output)
  const result = await executor.executeCodeBlocks([
    { language: "python", code: "import requests; print('requests', requests.__version__)" },
  ])
  process.stdout.write(result.output)
}
await rm(workDir, { recursive: true })

/* Prints, with the version that is there:
requests 0.0
*/
