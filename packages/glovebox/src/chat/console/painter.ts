import type { Image } from "../../models/index.ts"
import type { ChatItem } from "../messages/index.ts"
import type { StopKind } from "../task/index.ts"
import type { Mark } from "./item-parts.ts"
import type { TextWriter } from "./text-writer.ts"

/** What a run came to. */
export interface Ending {
  readonly stop?: { readonly kind: StopKind; readonly reason: string } | undefined
  readonly stats?:
    | {
        readonly messages: number
        readonly promptTokens: number
        readonly completionTokens: number
        readonly durationMs: number
      }
    | undefined
}

/** Draws a conversation, for people or for programs. Everything it is given is made safe by it. */
export interface Painter {
  /** Whether what models say is drawn while they say it, not once it is whole. */
  readonly isLive: boolean
  /** Who does what; whoever goes on with the same needs no other. */
  heading(item: ChatItem): string
  /** For what somebody says. */
  speech(): TextWriter
  /** For text with a mark before each line. */
  marked(mark: Mark): TextWriter
  image(image: Image): string
  ending(ending: Ending): string
}
