import { createHash, timingSafeEqual } from "node:crypto"

/** Who holds which token. */
export class BearerTokens {
  readonly #digests: readonly (readonly [string, Buffer])[]

  constructor(tokens: Readonly<Record<string, string>>) {
    this.#digests = Object.entries(tokens).map(([name, token]) => [name, digest(token)] as const)
  }

  /** Whose token a header holds. It takes as long for one that is almost right as for any other. */
  holder(authorization: string | undefined): string | undefined {
    const given = digest(/^Bearer ([\x21-\x7e]+)$/i.exec(authorization ?? "")?.[1] ?? "")
    const held = this.#digests.filter(([, token]) => timingSafeEqual(token, given))
    return held[0]?.[0]
  }
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest()
}
