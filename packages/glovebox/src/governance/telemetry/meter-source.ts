import { type Meter, type MeterProvider, createNoopMeter, metrics } from "@opentelemetry/api"
import { attempt } from "./attempt.ts"
import { Instruments } from "./instruments.ts"
import { SCOPE } from "./names.ts"

// What the API hands out while nobody has installed a metrics SDK.
const NO_METER = createNoopMeter()

/** Where things are counted: at a provider that was given, or at the global one of the moment. */
export class MeterSource {
  readonly #given: MeterProvider | null | undefined
  readonly #onMeter: (meter: Meter) => void
  readonly #redact: (text: string) => string
  #provider: MeterProvider | undefined
  #instruments: Instruments | undefined

  /** `onMeter` is told of each meter that comes into use. */
  constructor(
    given: MeterProvider | null | undefined,
    onMeter: (meter: Meter) => void,
    redact: (text: string) => string,
  ) {
    this.#given = given
    this.#onMeter = onMeter
    this.#redact = redact
  }

  /** Undefined where nobody would get a number. */
  get instruments(): Instruments | undefined {
    const provider = this.#given === undefined ? metrics.getMeterProvider() : this.#given
    if (provider === null) return undefined
    if (provider === this.#provider) return this.#instruments
    this.#provider = provider
    const meter = attempt(() => provider.getMeter(SCOPE))
    this.#instruments =
      meter === undefined || meter === NO_METER ? undefined : attempt(() => this.#use(meter))
    return this.#instruments
  }

  #use(meter: Meter): Instruments {
    const instruments = new Instruments(meter, this.#redact)
    attempt(() => this.#onMeter(meter))
    return instruments
  }
}
