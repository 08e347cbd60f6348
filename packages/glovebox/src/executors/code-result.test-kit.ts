import type { BlockResult, CodeResult } from "./code-result.ts"

/** A run that ended well and printed nothing, but for these fields. */
export function codeResult(fields: Partial<CodeResult> = {}): CodeResult {
  return {
    exitCode: 0,
    output: "",
    stdout: "",
    stderr: "",
    termination: "exit",
    truncated: false,
    durationMs: 1,
    blocks: [],
    artifacts: [],
    artifactsTruncated: false,
    codeFile: "a.py",
    sandbox: { kind: "test", policySha256: "", isolation: "run", effective: {} },
    ...fields,
  }
}

/** A block that ended with exit code 1, but for these fields. */
export function blockResult(fields: Partial<BlockResult> = {}): BlockResult {
  return {
    language: "python",
    codeFile: "a.py",
    exitCode: 1,
    termination: "exit",
    limitsHit: [],
    output: "",
    stdout: "",
    stderr: "",
    truncated: false,
    durationMs: 1,
    ...fields,
  }
}
