import type { Preset } from "./docker-presets.ts"
import type { Subject } from "./subject.ts"
import type { ReadVerifyOptions } from "./verify-options.ts"

/** The kind of sandbox that the options ask for; only then is its code loaded. */
export async function openSubject(options: ReadVerifyOptions, preset?: Preset): Promise<Subject> {
  const { sandbox } = options
  switch (sandbox) {
    case "docker":
    case "jupyter": {
      const { DockerSubject } = await import("./docker-subject.ts")
      return DockerSubject.open({ ...options, tier: sandbox, preset })
    }
    case "bubblewrap": {
      const { BubblewrapSubject } = await import("./bubblewrap-subject.ts")
      return new BubblewrapSubject(options)
    }
    case "wasm": {
      const { WasmSubject } = await import("./wasm-subject.ts")
      return new WasmSubject(options)
    }
    default:
      return sandbox satisfies never
  }
}
