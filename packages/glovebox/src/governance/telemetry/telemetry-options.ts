import type { MeterProvider, TracerProvider } from "@opentelemetry/api"
import { z } from "zod"

export interface TelemetryOptions {
  /** Null: no spans. @default the global provider of OpenTelemetry, also one that is installed later */
  readonly tracerProvider?: TracerProvider | null | undefined
  /** Null: no metrics. @default the global provider of OpenTelemetry, also one that is installed later */
  readonly meterProvider?: MeterProvider | null | undefined
  /** Spans hold messages, arguments, code and output too, redacted. @default false */
  readonly captureContent?: boolean | undefined
  /** What all text of spans goes through. @default that of a Redactor */
  readonly redact?: ((text: string) => string) | undefined
}

export const telemetryOptionsSchema = z.strictObject({
  tracerProvider: z
    .custom<TracerProvider>((value) => hasMethod(value, "getTracer"), "is no tracer provider")
    .nullish(),
  meterProvider: z
    .custom<MeterProvider>((value) => hasMethod(value, "getMeter"), "is no meter provider")
    .nullish(),
  captureContent: z.boolean().default(false),
  redact: z
    .custom<(text: string) => string>((value) => typeof value === "function", "is no function")
    .optional(),
})

function hasMethod(value: unknown, name: string): boolean {
  return typeof value === "object" && value !== null && typeof Reflect.get(value, name) === "function"
}
