import type { Duplex } from "node:stream"
import type Docker from "dockerode"

export interface PullProgress {
  readonly image: string
  readonly layer?: string | undefined
  readonly status: string
  readonly current?: number | undefined
  readonly total?: number | undefined
}

interface PullLine {
  readonly status?: string
  readonly id?: string
  readonly error?: string
  readonly progressDetail?: { readonly current?: number; readonly total?: number }
}

/** Waits for the end of a pull. */
export async function followPull(
  docker: Docker,
  stream: Duplex,
  image: string,
  onProgress: (progress: PullProgress) => void,
): Promise<void> {
  let failure: string | undefined
  const onLine = ({ status, id, error, progressDetail }: PullLine): void => {
    failure ??= error
    const { current, total } = progressDetail ?? {}
    onProgress({ image, layer: id, status: status ?? "", current, total })
  }
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(
      stream,
      (error: Error | null) => {
        // The client tells only of a stream that broke; the engine's own failure is a line of it.
        if (error || failure !== undefined) reject(error ?? new Error(failure))
        else resolve()
      },
      onLine,
    )
    stream.once("error", reject)
    stream.once("close", () => reject(new Error("the engine closed the connection")))
  })
}
