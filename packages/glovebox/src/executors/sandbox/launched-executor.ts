import { PolicyExecutor } from "./policy-executor.ts"
import type { RunningExecutor } from "./running-executor.ts"
import type { SandboxLauncher } from "./sandbox-launcher.ts"

/** An executor that is its policy, its files and a launcher. */
export abstract class LaunchedExecutor extends PolicyExecutor {
  /** Makes the launcher; called again after a stop. */
  protected abstract prepare(signal: AbortSignal): Promise<SandboxLauncher>

  protected override async open(signal: AbortSignal): Promise<RunningExecutor> {
    this.egress.prepare()
    return this.run(await this.prepare(signal), signal)
  }
}
