import type { SandboxEvent } from "../sandbox-event.ts"
import type { DockerExecutorEvent } from "./executor-event.ts"

const TYPES = ["container-started", "container-removed", "orphan-removed"] as const

type ContainerEvent = Extract<DockerExecutorEvent, { readonly type: (typeof TYPES)[number] }>

interface Listenable {
  on(type: (typeof TYPES)[number], listener: (event: ContainerEvent) => void): Disposable
}

/** Tells of the containers of an executor, until it is disposed. */
export function tellContainers(executor: Listenable, listener: (event: SandboxEvent) => void): Disposable {
  const watches = TYPES.map((type) =>
    executor.on(type, (event) => {
      const told = sandboxEventOf(event)
      if (told) listener(told)
    }),
  )
  return {
    [Symbol.dispose]: () => {
      for (const watch of watches) watch[Symbol.dispose]()
    },
  }
}

/** What an engine's event says of a sandbox; undefined when it is about none. */
export function sandboxEventOf(event: DockerExecutorEvent): SandboxEvent | undefined {
  switch (event.type) {
    case "container-started": {
      const { containerId, imageDigest, policySha256, runtime } = event
      return { event: "started", containerId, imageDigest, policySha256, runtime }
    }
    case "container-removed":
      return { event: "destroyed", containerId: event.containerId }
    case "orphan-removed":
      return {
        event: "destroyed",
        containerId: event.containerId,
        reason: `It was left by another process: ${event.reason}`,
      }
    case "pull":
    case "runtime-chosen":
      return undefined
    default:
      return event satisfies never
  }
}
