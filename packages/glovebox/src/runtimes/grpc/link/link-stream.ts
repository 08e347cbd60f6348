/** What a link needs of a stream; the duplex streams of grpc-js have it, on a client and on a server. */
export interface LinkStream {
  /** False when its buffer is full: then wait for "drain". */
  write(bytes: Buffer): boolean
  on(event: "data", listener: (bytes: Buffer) => void): unknown
  on(event: "error", listener: (error: Error) => void): unknown
  on(event: "close" | "drain" | "end", listener: () => void): unknown
  emit(event: "error", error: Error): unknown
  end(): unknown
  /** A client's way to end a call at once. */
  cancel?(): void
}

/** Ends a stream that is of no more use, whatever still waits in it. */
export function dropStream(stream: LinkStream): void {
  if (stream.cancel) stream.cancel()
  // A server has no cancel: it ends a call with the status of an error that is emitted, here gRPC's ABORTED.
  else stream.emit("error", Object.assign(new Error("The connection was given up."), { code: 10 }))
}
