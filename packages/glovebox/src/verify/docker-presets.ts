import { mkdtempSync } from "node:fs"
import { join } from "node:path"
import type { ContainerSpec } from "../executors/docker/container-spec.ts"
import { WORKSPACE } from "../policy/workspace-folder.ts"
import type { WeakeningMeans } from "./docker-weakenings.ts"

/** Settings of containers that others use, to be compared with. */
export const PRESETS = {
  "autogen-default": "the container of AutoGen's DockerCommandLineCodeExecutor, with all of its defaults",
} as const satisfies Record<string, string>

export type Preset = keyof typeof PRESETS

// It says nothing of the user, which with its default image is root.
const ROOT = "0:0"

// Each container its own: probes run beside each other.
function workFolder(folder: string): string {
  return mkdtempSync(join(folder, "work-"))
}

type Alter = (spec: ContainerSpec, means: WeakeningMeans) => ContainerSpec

/** What is changed in a container of ours so that its settings are those of the preset; the agent stays. */
export const DOCKER_PRESETS: Readonly<Record<Preset, Alter>> = {
  // The image's variables and health check, the engine's own network, limits, capabilities, profile and log.
  "autogen-default": (spec, { folder, gateway }) => {
    const { Image, Entrypoint, Cmd, Labels, OpenStdin, StdinOnce, AttachStdin, AttachStdout, AttachStderr } =
      spec
    const stream = { OpenStdin, StdinOnce, AttachStdin, AttachStdout, AttachStderr, Tty: false }
    const host = {
      NetworkMode: "default",
      SecurityOpt: [],
      CapDrop: [],
      CapAdd: [],
      Tmpfs: {},
      // Names are asked for at the host itself, so that no question leaves it.
      Dns: gateway === undefined ? [] : [gateway],
      Mounts: [{ Type: "bind", Source: workFolder(folder), Target: WORKSPACE, ReadOnly: false }],
      AutoRemove: true,
    }
    const settings = { Image, Entrypoint, Cmd, Labels, WorkingDir: WORKSPACE, User: ROOT, Env: [], ...stream }
    // Whatever is not said is the engine's to decide: that is what is looked at.
    return { ...settings, HostConfig: host } as unknown as ContainerSpec
  },
}
