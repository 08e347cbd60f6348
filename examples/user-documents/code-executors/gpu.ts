// GPU support: asks for all GPUs. Needs an engine with the NVIDIA container toolkit; without it, this says so.
//   npx tsx examples/user-documents/code-executors/gpu.ts
import { GloveboxError } from "glovebox"
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"

await using executor = new DockerCommandLineCodeExecutor({
  image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "pytorch/pytorch:2.0.1-cuda11.7-cudnn8-runtime",
  deviceRequests: [{ count: -1, capabilities: [["gpu"]] }],
})

try {
  const code = "import torch\nprint(torch.cuda.get_device_name(0))"
  process.stdout.write((await executor.executeCodeBlocks([{ language: "python", code }])).output)
} catch (error) {
  if (!GloveboxError.is(error)) throw error
  console.log(`${error.code}: the engine has no GPUs to give`)
  console.error(error.message)
}

/* Prints, on a machine without GPUs:
ENGINE_FAILED: the engine has no GPUs to give
*/
