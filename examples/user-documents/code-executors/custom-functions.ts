// Custom functions: Python that the code can import, with the packages that it needs. Packages come from a folder of
// wheels (WHEEL_DIR), or from an index that the policy's network names.
//   npx tsx examples/user-documents/code-executors/custom-functions.ts
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { pythonFunction } from "glovebox/executors"
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"

// The service that the function asks: here on this machine, so it is named as a private one too.
const service = createServer((_request, response) => response.end('{"heights": [1.71, 1.64, 1.93]}'))
service.listen(0, "127.0.0.1")
await once(service, "listening")
const { port } = service.address() as AddressInfo

const fetchData = pythonFunction({
  source: `def fetch_data(url: str) -> dict:
    """Fetch data from a URL."""
    return requests.get(url).json()`,
  pythonPackages: ["requests"],
  imports: ["requests"],
})

const wheelDir = process.env["WHEEL_DIR"]
const index = wheelDir === undefined ? ["pypi.org:443", "files.pythonhosted.org:443"] : []
await using executor = new DockerCommandLineCodeExecutor({
  image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "python:3-slim",
  functions: [fetchData],
  functionsModule: "custom_tools",
  wheelDir,
  network: { allow: [`api.example:${port}`, ...index], allowPrivate: [`127.0.0.1:${port}`] },
  egress: { lookup: async () => ["127.0.0.1"] },
})

const code = `from custom_tools import fetch_data

data = fetch_data('http://api.example:${port}/data')
print(data)`
const result = await executor.executeCodeBlocks([{ language: "python", code }])
process.stdout.write(result.output)
service.close()

/* Prints:
{'heights': [1.71, 1.64, 1.93]}
*/
