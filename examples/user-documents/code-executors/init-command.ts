// Initialization command: runs once in each container, before the code. It has the code's rights and no more, so what
// needs root or the network (`apt-get install git`) belongs into the image.
//   npx tsx examples/user-documents/code-executors/init-command.ts
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"

await using executor = new DockerCommandLineCodeExecutor({
  image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "python:3-slim",
  initCommand: "mkdir -p lib && echo 'ANSWER = 42' > lib/settings.py",
})

const code = "import sys\nsys.path.insert(0, 'lib')\nfrom settings import ANSWER\nprint(ANSWER)"
process.stdout.write((await executor.executeCodeBlocks([{ language: "python", code }])).output)

/* Prints:
42
*/
