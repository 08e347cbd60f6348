import { styleText } from "node:util"

export type Style = Parameters<typeof styleText>[0]

/** The text in a style; the text itself must be safe already. */
export function paint(style: Style, text: string): string {
  return text === "" ? "" : styleText(style, text, { validateStream: false })
}
