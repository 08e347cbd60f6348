import { GloveboxError } from "../../../core/index.ts"

/** What went wrong on one engine of a fleet, with the code that it has on a single engine. */
export class FleetError extends GloveboxError {
  /** The engine's name in the fleet. */
  readonly engine: string

  constructor(engine: string, cause: GloveboxError, note = "") {
    super(cause.code, `On the engine ${engine}: ${cause.message}${note === "" ? "" : ` ${note}`}`, { cause })
    this.engine = engine
  }
}
