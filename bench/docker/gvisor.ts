import { GloveboxError } from "glovebox/core"
import type { EngineBed } from "./engine-bed.ts"
import { runOnHost } from "../host-python.ts"
import { interleave, timed } from "../interleave.ts"
import { PRINT } from "../programs.ts"
import { ROUNDS } from "./settings.ts"
import { SettlingExecutor } from "./settling-executor.ts"

const RUNTIME = "runsc"

export interface GvisorLatencies {
  readonly gvisorPooledMs: number
  readonly hostFloorMs: number
}

/** A pooled call under gVisor, or why there is none. */
export async function measureGvisor(bed: EngineBed, python: string): Promise<GvisorLatencies | string> {
  if (!Object.hasOwn(bed.info.runtimes, RUNTIME)) return `the engine has no runtime ${RUNTIME}`
  try {
    await using executor = await SettlingExecutor.start(bed, 2, { runtime: RUNTIME })
    return await interleave<keyof GvisorLatencies>(
      [
        { sample: async () => ({ hostFloorMs: await timed(async () => runOnHost(python, PRINT)) }) },
        {
          sample: async () => ({ gvisorPooledMs: await timed(async () => executor.print(PRINT)) }),
          settle: async () => executor.settle(),
        },
      ],
      ROUNDS,
    )
  } catch (error) {
    if (GloveboxError.is(error, "SANDBOX_UNENFORCEABLE")) return error.message
    throw error
  }
}
