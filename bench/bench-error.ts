/** A failure whose message says all there is to know, so that no stack is printed. */
export class BenchError extends Error {
  override readonly name = "BenchError"
}
