// Network configuration: names for addresses. A container with a network of its own is wide open, and has to be asked for.
// To let code reach a few hosts, name them instead: examples/egress/one-host.ts
//   npx tsx examples/user-documents/code-executors/network-configuration.ts
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"

await using executor = new DockerCommandLineCodeExecutor({
  image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "python:3-slim",
  network: { dangerously: "bridge" },
  extraHosts: {
    "kubernetes.docker.internal": "host-gateway",
    "custom.service": "10.0.0.5",
  },
})

const code = "import socket\nprint(socket.gethostbyname('custom.service'))"
process.stdout.write((await executor.executeCodeBlocks([{ language: "python", code }])).output)

/* Prints:
10.0.0.5
*/
