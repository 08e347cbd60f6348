export interface EngineInfo {
  readonly version: string
  readonly name: string
  readonly operatingSystem: string
  readonly architecture: string
  /** The release of its machine's kernel. */
  readonly kernel: string
  readonly cgroupVersion: string
  readonly defaultRuntime: string
  /** By name: how the engine starts it. */
  readonly runtimes: Readonly<Record<string, { readonly path: string; readonly args: readonly string[] }>>
  readonly isPodman: boolean
}

/** What the engine answers, unread. */
export type EngineAnswer = Readonly<Record<string, unknown>>

/** Reads the engine's "info" and "version". */
export function readEngineInfo(info: EngineAnswer, version: EngineAnswer): EngineInfo {
  const runtimes = (info["Runtimes"] ?? {}) as Record<string, { path?: string; runtimeArgs?: string[] }>
  const components = (version["Components"] ?? []) as readonly { readonly Name?: string }[]
  return {
    version: text(info["ServerVersion"]),
    name: text(info["Name"]),
    operatingSystem: text(info["OperatingSystem"]),
    architecture: text(info["Architecture"]),
    kernel: text(info["KernelVersion"]),
    cgroupVersion: text(info["CgroupVersion"]),
    defaultRuntime: text(info["DefaultRuntime"]),
    runtimes: Object.fromEntries(
      Object.entries(runtimes).map(([name, { path, runtimeArgs }]) => [
        name,
        { path: path ?? "", args: runtimeArgs ?? [] },
      ]),
    ),
    isPodman: components.some(({ Name }) => Name === "Podman Engine"),
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : ""
}
