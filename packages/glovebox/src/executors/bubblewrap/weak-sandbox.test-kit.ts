import { guardOf } from "./bubblewrap-launcher.ts"
import type { Control } from "./bwrap-arguments.ts"
import { type BubblewrapCodeExecutorOptions, readBubblewrapOptions } from "./bubblewrap-options.ts"
import { type LaunchedSandbox, launchSandbox } from "./launch-sandbox.ts"
import { type LaunchPreparation, prepareLaunch } from "./prepare-launch.ts"

/** What of the wall is different, and whether anyone looks. */
export interface Weakening {
  readonly options?: BubblewrapCodeExecutorOptions
  /** Controls that are left out. */
  readonly without?: readonly string[]
  /** Arguments in the place of a control's own. */
  readonly instead?: Readonly<Record<string, readonly string[]>>
  readonly change?: (preparation: LaunchPreparation) => LaunchPreparation
  /** @default false */
  readonly verifies?: boolean
}

/** A sandbox with a part of its wall missing, which nobody checks unless asked. */
export async function weakSandbox({
  options = {},
  without = [],
  instead = {},
  change = (preparation) => preparation,
  verifies = false,
}: Weakening = {}): Promise<LaunchedSandbox> {
  const preparation = change(await prepareLaunch(readBubblewrapOptions({ pool: false, ...options })))
  const guard = guardOf(preparation)
  try {
    const sandbox = await launchSandbox(preparation, {
      turn: 0,
      guard,
      verifies,
      alter: (controls) => alter(controls, without, instead),
    })
    const destroy = async (): Promise<void> => {
      await sandbox.destroy()
      await guard.close()
    }
    return { ...sandbox, destroy, [Symbol.asyncDispose]: destroy }
  } catch (error) {
    await guard.close()
    throw error
  }
}

function alter(
  controls: readonly Control[],
  without: readonly string[],
  instead: Readonly<Record<string, readonly string[]>>,
): Control[] {
  // A control that has another name by now would be left in, and the test would prove nothing.
  for (const name of [...without, ...Object.keys(instead)]) {
    if (!controls.some((control) => control.name === name)) throw new Error(`there is no control "${name}"`)
  }
  return controls
    .filter(({ name }) => !without.includes(name))
    .map((control) => ({ name: control.name, args: instead[control.name] ?? control.args }))
}

async function printed(sandbox: LaunchedSandbox, code: string): Promise<string> {
  let output = ""
  await sandbox.agent.run({
    argv: ["python3", "-c", code],
    how: "exec",
    onOutput: (_stream, bytes) => {
      output += bytes.toString("utf8")
    },
  })
  return output.trim()
}

/** What a Python program prints in a sandbox that is made for it. */
export async function printedIn(weakening: Weakening, code: string): Promise<string> {
  await using sandbox = await weakSandbox(weakening)
  return await printed(sandbox, code)
}
