// Code that uses a key which it does not have:
//   npx tsx examples/egress/secret.ts
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"

const KEY = "key-of-the-weather-service"

// The service, here on this machine. It wants the key, and is careless enough to say it back.
const service = createServer(({ headers }, response) => {
  const given = headers.authorization ?? ""
  response.end(given === `Bearer ${KEY}` ? `21 degrees, for ${given}` : `no weather for ${given}`)
})
service.listen(0, "127.0.0.1")
await once(service, "listening")
const { port } = service.address() as AddressInfo

await using executor = new DockerCommandLineCodeExecutor({
  image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "python:3-slim",
  policy: {
    network: {
      allow: [`weather.example:${port}`, `elsewhere.example:${port}`],
      allowPrivate: [`127.0.0.1:${port}`],
    },
    // A service with TLS is named without "http://", and its rule says intercept: true.
    secrets: { WEATHER_KEY: { hosts: [`http://weather.example:${port}`] } },
  },
  secretValues: { WEATHER_KEY: KEY },
  egress: { lookup: async () => ["127.0.0.1"] },
  pool: false,
})

const { stdout, egress } = await executor.executeCodeBlocks([
  {
    language: "python",
    code: `import os, urllib.request
key = os.environ["WEATHER_KEY"]
for host in ("weather.example", "elsewhere.example"):
    request = urllib.request.Request(f"http://{host}:${port}/", headers={"Authorization": f"Bearer {key}"})
    print(urllib.request.urlopen(request).read().decode().replace(key, "PLACEHOLDER"))`,
  },
])
service.close()

console.log(stdout.trimEnd())
for (const { host, secrets = [], secretsWithheld = [] } of egress ?? []) {
  console.log(
    `${host}: used ${secrets.map(({ name }) => name).join() || "none"}, withheld ${secretsWithheld.join() || "none"}`,
  )
}
console.log("the key came in:", stdout.includes(KEY))

/* Prints:
21 degrees, for Bearer PLACEHOLDER
no weather for Bearer PLACEHOLDER
weather.example: used WEATHER_KEY, withheld none
elsewhere.example: used none, withheld WEATHER_KEY
the key came in: false
*/
