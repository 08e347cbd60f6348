/** Draws text that comes in pieces. */
export interface TextWriter {
  /** What can be drawn now; the rest waits for the next piece. */
  push(text: string): string
  /** Draws what is left, and ends the line. */
  end(): string
}
