// Two tenants on one fleet: each with its own policy, containers and quota, and an answer when one asks for too much:
//   npx tsx examples/fleet/two-tenants.ts
// A second engine is one more entry of hosts; FLEET_SECOND_HOST names one here, such as ssh://runner@10.0.0.7.
import { DockerFleet, TryLaterError } from "glovebox/executors/docker"

const second = process.env["FLEET_SECOND_HOST"]

await using fleet = new DockerFleet({
  hosts: [
    { name: "here", capacity: 4 },
    ...(second === undefined ? [] : [{ name: "there", dockerHost: second, capacity: 16 }]),
  ],
  tenants: {
    acme: { policy: { limits: { memory: "256MiB", wall: "20s" } }, pool: 1 },
    guest: { policy: { limits: { memory: "64MiB", wall: "5s" } }, pool: 0, quota: { runsPerMinute: 2 } },
  },
  image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "python:3-slim",
})

await using acme = fleet.executor({ tenant: "acme" })
await using guest = fleet.executor({ tenant: "guest" })

await acme.executeCodeBlocks([{ language: "python", code: `open("plan.txt", "w").write("buy low")` }])
const again = await acme.executeCodeBlocks([{ language: "python", code: `print(open("plan.txt").read())` }])
console.log("acme:", again.stdout.trim())

for (const code of [`import os; print(os.path.exists("plan.txt"))`, `print("second")`, `print("third")`]) {
  try {
    const { stdout } = await guest.executeCodeBlocks([{ language: "python", code }])
    console.log("guest:", stdout.trim())
  } catch (error) {
    if (!(error instanceof TryLaterError)) throw error
    console.log(
      "guest:",
      error.code,
      error.quota,
      error.retryAfterMs > 50_000 ? "in most of a minute" : "soon",
    )
  }
}

/* Prints:
acme: buy low
guest: False
guest: second
guest: TRY_LATER runsPerMinute in most of a minute
*/
