// A worker whose code runs on several Docker engines, of which its clients know nothing:
//   DOCKER_HOSTS=unix:///var/run/docker.sock,ssh://runner@10.0.0.7 npx glovebox worker examples/distributed/fleet.mjs
import { DockerFleet } from "glovebox/executors/docker"
import { serveCodeExecutor } from "glovebox/executors/remote"

const engines = (process.env.DOCKER_HOSTS ?? "unix:///var/run/docker.sock").split(",")

export async function register(runtime) {
  const fleet = new DockerFleet({
    hosts: engines.map((dockerHost, index) => ({ name: `engine-${index + 1}`, dockerHost, capacity: 2 })),
    tenants: { readers: { policy: { limits: { memory: "256MiB", wall: "20s" } }, pool: 1 } },
    image: process.env.GLOVEBOX_SANDBOX_IMAGE || "python:3-slim",
  })
  const served = await serveCodeExecutor(runtime, {
    type: "fleet",
    executor: () => fleet.executor({ tenant: "readers" }),
  })
  return {
    drain: async () => served.drain(),
    async [Symbol.asyncDispose]() {
      await served.close()
      await fleet.stop()
    },
  }
}
