// Supported languages: Python, shell and PowerShell, where the image has them.
//   npx tsx examples/user-documents/code-executors/languages.ts
import { GloveboxError } from "glovebox"
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"

await using executor = new DockerCommandLineCodeExecutor({
  image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "python:3-slim",
})

const codeBlocks = [
  { language: "python", code: 'import sys\nprint(f"Python {sys.version_info.major}")' },
  { language: "bash", code: 'echo "Running shell script"\nls -la | head -1' },
  { language: "pwsh", code: 'Write-Host "Running PowerShell"\nGet-ChildItem' },
]
for (const block of codeBlocks) {
  try {
    const { output } = await executor.executeCodeBlocks([block])
    console.log(`${block.language}: ${output.split("\n")[0]}`)
  } catch (error) {
    if (!GloveboxError.is(error, "LANGUAGE_UNAVAILABLE")) throw error
    console.log(`${block.language}: ${error.code}`)
  }
}

/* Prints, with an image that has no PowerShell:
python: Python 3
bash: Running shell script
pwsh: LANGUAGE_UNAVAILABLE
*/
