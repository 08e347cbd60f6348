export { PROBES, probesFor } from "./catalogue.ts"
export {
  type Expectation,
  type Finding,
  type Observation,
  allowed,
  blocked,
  failed,
  inconclusive,
  plainFinding,
} from "./finding.ts"
export { type InsideProgram, type InsideRequest, insideProgram, insideRequest } from "./inside-program.ts"
export type {
  Lab,
  LabDns,
  LabLeftover,
  LabListeners,
  LabOptions,
  LabOutsideRun,
  LabRun,
  LabRunOptions,
  LabSandboxes,
} from "./lab.ts"
export {
  type Control,
  FAMILIES,
  type Family,
  type Given,
  type InsideAttack,
  type LabAttack,
  PATHS,
  type Probe,
  type ProbeContext,
  type ProbeFacts,
  type SandboxPath,
  type SandboxProbeFacts,
  type Watch,
} from "./probe.ts"
export { WEAKENINGS, type Weakening } from "./weakening.ts"
