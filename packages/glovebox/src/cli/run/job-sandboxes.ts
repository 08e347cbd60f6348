import { SANDBOXES } from "../sandbox-options.ts"

/** Where a model's code may run: not on the host, which is no sandbox. */
export const JOB_SANDBOXES = SANDBOXES.filter((name) => name !== "local")
