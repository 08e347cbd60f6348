import type { Artifact, BlockResult, CodeResult } from "./code-result.ts"
import type { EgressEvent } from "../egress/index.ts"
import type { RichOutput } from "./rich-output.ts"

/** What happens while code runs, in order; the last is `finished`. */
export type ExecutionEvent =
  | { readonly type: "started"; readonly blocks: number }
  | {
      readonly type: "block-started"
      readonly block: number
      readonly language: string
      readonly codeFile: string
    }
  | OutputEvent
  | DisplayEvent
  | ({ readonly type: "egress" } & EgressEvent)
  | { readonly type: "block-finished"; readonly block: number; readonly result: BlockResult }
  | { readonly type: "artifact"; readonly artifact: Artifact }
  | { readonly type: "finished"; readonly result: CodeResult }

/** Output as it comes: never half a character. */
export interface OutputEvent {
  readonly type: "stdout" | "stderr"
  readonly block: number
  readonly text: string
  /** The same as it came; it may end within a character, whose text then comes with the next. */
  readonly bytes: Uint8Array
}

/** Something that the code shows beside its text; only of executors that can. */
export interface DisplayEvent {
  readonly type: "display"
  readonly block: number
  /** New, in the place of what was shown under the same id, or in the place of all that the block showed so far. */
  readonly action: "show" | "update" | "clear"
  /** All forms of it; empty for a clear. */
  readonly outputs: readonly RichOutput[]
}
