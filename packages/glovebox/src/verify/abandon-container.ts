import { ContainerLauncher } from "../executors/docker/container-launcher.ts"
import type { ContainerSpec } from "../executors/docker/container-spec.ts"
import {
  type DockerCommandLineCodeExecutorOptions,
  readDockerOptions,
} from "../executors/docker/docker-options.ts"
import { newOwner } from "../executors/docker/ownership.ts"
import { EgressControl } from "../executors/sandbox/sandbox-egress.ts"
import type { LabLeftover } from "../probes/index.ts"

interface State {
  readonly State: { readonly Running: boolean; readonly Restarting?: boolean }
  readonly RestartCount?: number
}

/** Makes a container, and cuts its connection, as when the process that made it dies. */
export async function abandonContainer(
  given: DockerCommandLineCodeExecutorOptions,
  alter: ((spec: ContainerSpec) => ContainerSpec) | undefined,
  signal: AbortSignal,
): Promise<LabLeftover> {
  const options = readDockerOptions(given)
  const egress = new EgressControl(options.policy.fields)
  const launcher = await ContainerLauncher.prepare(
    { options, owner: newOwner(), emit: () => {}, egress, alter },
    signal,
  )
  const { engine } = launcher
  try {
    const { id, agent } = await launcher.launch(signal)
    agent.close()
    return {
      state: async () =>
        engine.ask("look at a container", async (docker) => {
          try {
            return describe(await docker.getContainer(id).inspect())
          } catch (error) {
            if ((error as { statusCode?: number }).statusCode === 404) return "gone"
            throw error
          }
        }),
      [Symbol.asyncDispose]: async () => {
        await engine.remove(id)
        await launcher.close()
      },
    }
  } catch (error) {
    await launcher.close()
    throw error
  }
}

function describe({ State, RestartCount = 0 }: State): Awaited<ReturnType<LabLeftover["state"]>> {
  if (RestartCount > 0 || State.Restarting === true) return "restarted"
  return State.Running ? "running" : "ended"
}
