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
  const onLine = ({ status, id, progressDetail }: PullLine): void => {
    const { current, total } = progressDetail ?? {}
    onProgress({ image, layer: id, status: status ?? "", current, total })
  }
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(stream, (error: Error | null) => (error ? reject(error) : resolve()), onLine)
    stream.once("error", reject)
    stream.once("close", () => reject(new Error("the engine closed the connection")))
  })
}
