/** An error that a provider reports in an answer whose status is that of success. */
export class ReportedError extends Error {
  /** What it sent as the error. */
  readonly error: object

  constructor(error: object) {
    super("message" in error && typeof error.message === "string" ? error.message : JSON.stringify(error))
    this.error = error
  }
}
