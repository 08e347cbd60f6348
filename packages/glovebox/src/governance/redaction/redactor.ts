import { TransformStream } from "node:stream/web"
import { GloveboxError } from "../../core/glovebox-error.ts"
import type { Logger } from "../../core/logger.ts"
import { readOptions } from "../../core/read-options.ts"
import { ASSIGNMENT_SHAPES } from "./assignment-shapes.ts"
import { environmentSecrets, isCommonValue } from "./environment-values.ts"
import { KnownValues } from "./known-values.ts"
import { PatternScanner } from "./pattern-scanner.ts"
import { Placeholders } from "./placeholders.ts"
import { redactLogger } from "./redact-logger.ts"
import { redactError, redactValue } from "./redact-value.ts"
import { RedactionStream } from "./redaction-stream.ts"
import { KIND_NAME, type RedactorOptions, redactorOptionsSchema } from "./redactor-options.ts"
import type { Scanner } from "./scanner.ts"
import { SECRET_SHAPES } from "./secret-shapes.ts"
import { ShapeScanner } from "./shape-scanner.ts"

const DEFAULT_KIND = "secret"

/** Forgets a value that was registered; a second time does nothing. */
export interface SecretRegistration extends Disposable {
  dispose(): void
}

/**
 * Takes secrets out of everything that leaves: those of known shapes, registered values, the environment's.
 *
 * @example
 * const redactor = new Redactor()
 * redactor.text("key AKIAIOSFODNN7EXAMPLE") // "key [redacted:aws-access-key]"
 */
export class Redactor {
  readonly #placeholders: Placeholders
  readonly #values = new KnownValues()
  readonly #scanners: readonly Scanner[]
  #generation = 0

  constructor(options: RedactorOptions = {}) {
    const { patterns, values, environment, variables, replacement } = readOptions(
      "a Redactor",
      redactorOptionsSchema,
      options,
    )
    const placeholders = new Placeholders(replacement)
    this.#placeholders = placeholders
    for (const { kind } of [...SECRET_SHAPES, ...ASSIGNMENT_SHAPES]) placeholders.add(kind)
    for (const { name } of patterns) placeholders.add(name)
    this.#scanners = [
      this.#values,
      ...patterns.map((pattern) => new PatternScanner(pattern, 1, placeholders)),
      new ShapeScanner(SECRET_SHAPES, 2, placeholders),
      new ShapeScanner(ASSIGNMENT_SHAPES, 3, placeholders),
    ]
    const named = Array.isArray(values)
      ? values.map((value) => [DEFAULT_KIND, value] as const)
      : Object.entries(values)
    for (const [name, value] of named) this.register(value, { name })
    if (environment === false) return
    for (const { name, value } of environmentSecrets(variables ?? process.env, environment === "all")) {
      if (!this.#placeholders.showing(value)) this.#add(value, KIND_NAME.test(name) ? name : DEFAULT_KIND)
    }
  }

  /**
   * Makes a value a secret from now on, also where it is written for JSON, for a URL, in base64 or hexadecimal, or
   * broken over lines.
   *
   * @throws `OPTION_INVALID` for a value that is too short or too common to be told from other text
   */
  register(
    value: string,
    { name = DEFAULT_KIND }: { readonly name?: string | undefined } = {},
  ): SecretRegistration {
    if (typeof value !== "string" || isCommonValue(value) || this.#placeholders.showing(value)) {
      throw new GloveboxError(
        "OPTION_INVALID",
        "The value cannot be redacted: it is no text, or too short or too common. Use at least 6 characters.",
      )
    }
    if (!KIND_NAME.test(name)) {
      throw new GloveboxError(
        "OPTION_INVALID",
        "The name of a secret has 1 to 64 letters, digits, dots, underscores or hyphens.",
      )
    }
    const id = this.#add(value, name)
    const dispose = (): void => this.#values.remove(id)
    return { dispose, [Symbol.dispose]: dispose }
  }

  /** Grows whenever another value becomes a secret: what was clean before may not be now. */
  get generation(): number {
    return this.#generation
  }

  /** The text without its secrets. */
  text(text: string): string {
    // Most texts have none, and an audit log has many texts.
    const clean = this.#scanners.every(
      (scanner) => scanner.scan(text, { from: 0, final: true }).ranges.length === 0,
    )
    return clean ? text : this.stream().end(text)
  }

  /** A copy of data without its secrets: JSON, and what commonly is beside it (errors, dates, maps, bytes). */
  value(value: unknown): unknown {
    return redactValue(value, this.#rules)
  }

  error(error: Error): Error {
    return redactError(error, this.#rules)
  }

  /** A logger, such as that of a runtime, that is told without secrets. */
  logger(logger: Logger): Logger {
    return redactLogger(logger, this)
  }

  /** For text that comes in pieces: `push` each, then `end`. */
  stream(): RedactionStream {
    return new RedactionStream(this.#scanners, (kind) => this.#placeholders.of(kind))
  }

  /** The same for web streams of text. */
  transform(): TransformStream<string, string> {
    const stream = this.stream()
    return new TransformStream<string, string>({
      transform: (chunk, controller) => send(stream.push(chunk), controller),
      flush: (controller) => send(stream.end(), controller),
    })
  }

  /** The same for anything that gives text in pieces. */
  async *iterate(pieces: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string, void, undefined> {
    const stream = this.stream()
    for await (const piece of pieces) {
      const text = stream.push(piece)
      if (text !== "") yield text
    }
    const rest = stream.end()
    if (rest !== "") yield rest
  }

  #add(value: string, name: string): symbol {
    // The name is shown: it must not show a secret.
    const shown = this.#placeholders.of(name)
    const kind = shown.includes(value) || this.#values.anyIn(shown) ? DEFAULT_KIND : name
    this.#placeholders.add(kind)
    this.#generation += 1
    return this.#values.add(value, kind)
  }

  get #rules(): Parameters<typeof redactValue>[1] {
    return {
      text: (text) => this.text(text),
      placeholder: this.#placeholders.of(DEFAULT_KIND),
      isPlaceholder: (text) => this.#placeholders.isOne(text),
    }
  }
}

function send(text: string, controller: { enqueue(text: string): void }): void {
  if (text !== "") controller.enqueue(text)
}
