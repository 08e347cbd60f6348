import type { GloveboxError } from "../../../core/glovebox-error.ts"
import type { Link } from "../link/link.ts"
import type { Notice, RpcResponse } from "../wire/wire-message.ts"

/** The way to the host, as those who send see it. */
export interface HostPort {
  /** Undefined while there is no connection: then hold back what was to be sent. */
  readonly link: Link | undefined
  /** The host is AutoGen's. */
  readonly isPlain: boolean
  /** Throws HOST_UNAVAILABLE when the host was away for so long that nothing is held back for it. */
  checkUp(): void
  /** Throws QUEUE_FULL when so much is held back already. */
  checkRoom(held: number): void
  unavailable(): GloveboxError
  /** Tells the host something; a host of AutoGen is told nothing. */
  notify(notice: Notice): void
  /** Answers a request; throws MESSAGE_TOO_LARGE. */
  answer(response: RpcResponse): void
  /** Something was sent or has come: whoever asks for idleness must know. */
  active(): void
}
