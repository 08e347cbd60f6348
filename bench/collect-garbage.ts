import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

setFlagsFromString("--expose-gc")

/** A full collection, at once. */
export const collectGarbage: () => void = runInNewContext("gc")
