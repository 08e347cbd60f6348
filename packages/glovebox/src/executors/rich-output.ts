import type { JsonValue } from "../core/index.ts"

interface Shown {
  /** The same for all forms of one thing that was shown; counted from 1 within the call. */
  readonly display: number
  /** Under which the code can show something else in its place. */
  readonly displayId?: string | undefined
  /** The artifact that holds it as a file, if there is one. */
  readonly artifact?: string | undefined
}

/** What code can show, in the form of one media type. Written by the code: HTML and SVG may hold scripts. */
export type RichContent =
  | { readonly type: "text"; readonly mime: "text/plain"; readonly data: string }
  | { readonly type: "markdown"; readonly mime: "text/markdown"; readonly data: string }
  | { readonly type: "latex"; readonly mime: "text/latex"; readonly data: string }
  | { readonly type: "html"; readonly mime: "text/html"; readonly data: string }
  | { readonly type: "svg"; readonly mime: "image/svg+xml"; readonly data: string }
  | { readonly type: "png"; readonly mime: "image/png"; readonly data: Uint8Array }
  | { readonly type: "jpeg"; readonly mime: "image/jpeg"; readonly data: Uint8Array }
  | { readonly type: "gif"; readonly mime: "image/gif"; readonly data: Uint8Array }
  | { readonly type: "json"; readonly mime: string; readonly data: JsonValue }
  | { readonly type: "other"; readonly mime: string; readonly data: JsonValue }

/** One form of something that the code showed beside its text: a plot, a table, a formula. */
export type RichOutput = Shown & RichContent
