import { z } from "zod"
import type { SecretPattern } from "./pattern-scanner.ts"

export interface RedactorOptions {
  /** Kinds of secrets of your own, beside the known ones. @default [] */
  readonly patterns?: readonly SecretPattern[] | undefined
  /** Values that are secrets: a list, or by name. @default [] */
  readonly values?: readonly string[] | Readonly<Record<string, string>> | undefined
  /**
   * Takes the values of variables whose names look secret; "all": those of every variable that are not ordinary
   * words, numbers or paths. Of `process.env` as it is now, or of `variables`. @default true
   */
  readonly environment?: boolean | "all" | undefined
  /** @default process.env */
  readonly variables?: Readonly<Record<string, string | undefined>> | undefined
  /** What stands where a secret stood; `{kind}` is its kind. @default "[redacted:{kind}]" */
  readonly replacement?: string | undefined
}

/** How a kind may be written: it stands in the replacement. */
export const KIND_NAME: RegExp = /^[\w.-]{1,64}$/

const kindSchema = z.string().regex(KIND_NAME, "write 1 to 64 letters, digits, dots, underscores or hyphens")

export const redactorOptionsSchema = z.strictObject({
  patterns: z
    .array(
      z.strictObject({
        name: kindSchema,
        pattern: z.instanceof(RegExp),
        maxLength: z.int().min(1).max(65_536).optional(),
      }),
    )
    .default([]),
  values: z.union([z.array(z.string()), z.record(kindSchema, z.string())]).default([]),
  environment: z.union([z.boolean(), z.literal("all")]).default(true),
  variables: z.record(z.string(), z.string().optional()).optional(),
  replacement: z
    .string()
    .regex(/^[^\s\p{Cs}](?:[^\r\n\p{Cs}]{0,62}[^\s\p{Cs}])?$/u, "write 1 to 64 characters in one line")
    .refine((text) => text.split("{kind}").length <= 2, "write {kind} once")
    .default("[redacted:{kind}]"),
})
