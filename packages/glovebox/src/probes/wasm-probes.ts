import { GUEST_LIMIT_PROBES } from "./guest-limit-probes.ts"
import { GUEST_TRACE_PROBES } from "./guest-trace-probes.ts"
import { JAVASCRIPT_GUEST_PROBES } from "./javascript-guest-probes.ts"
import type { Probe } from "./probe.ts"
import { PYTHON_GUEST_PROBES } from "./python-guest-probes.ts"

/** Interpreters in WebAssembly. */
export const WASM_PROBES: readonly Probe[] = [
  ...JAVASCRIPT_GUEST_PROBES,
  ...PYTHON_GUEST_PROBES,
  ...GUEST_LIMIT_PROBES,
  ...GUEST_TRACE_PROBES,
]
