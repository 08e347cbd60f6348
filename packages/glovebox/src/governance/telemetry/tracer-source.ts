import { ProxyTracerProvider, type Tracer, type TracerProvider, trace } from "@opentelemetry/api"
import { attempt } from "./attempt.ts"
import { SCOPE } from "./names.ts"

// What the API hands out while nobody has installed a tracing SDK.
const NO_PROVIDER = new ProxyTracerProvider().getDelegate()

/** Where spans begin: at a provider that was given, or at the global one of the moment. */
export class TracerSource {
  readonly #given: TracerProvider | null | undefined
  #provider: TracerProvider | undefined
  #tracer: Tracer | undefined

  constructor(given: TracerProvider | null | undefined) {
    this.#given = given
  }

  /** Undefined where nobody would get a span. */
  get tracer(): Tracer | undefined {
    const provider = this.#given === undefined ? trace.getTracerProvider() : this.#given
    if (provider === null || isNone(provider)) return undefined
    if (provider === this.#provider) return this.#tracer
    this.#provider = provider
    this.#tracer = attempt(() => provider.getTracer(SCOPE))
    return this.#tracer
  }
}

function isNone(provider: TracerProvider): boolean {
  return (provider instanceof ProxyTracerProvider ? provider.getDelegate() : provider) === NO_PROVIDER
}
