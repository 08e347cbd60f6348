import { GloveboxError } from "../../core/index.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { describe } from "../../internal/describe.ts"
import { redact } from "../redact.ts"

/** Asks a provider for tokens, and knows the latest, so that no message shows it. */
export class TokenSource {
  readonly #provider: () => Promise<string>
  #latest: string | undefined

  constructor(provider: () => Promise<string>) {
    this.#provider = provider
  }

  get latest(): string | undefined {
    return this.#latest
  }

  async next(): Promise<string> {
    let token: unknown
    try {
      token = await this.#provider()
    } catch (error) {
      const said = redact(errorMessage(error), [this.#latest ?? ""])
      throw new GloveboxError("MODEL_KEY_MISSING", `azureADTokenProvider gave no token: ${said}`)
    }
    if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
      const seen = typeof token === "string" ? "a text that is no token" : describe(token)
      throw new GloveboxError("MODEL_KEY_MISSING", `azureADTokenProvider gave ${seen}. Return a token.`)
    }
    this.#latest = token
    return token
  }
}
