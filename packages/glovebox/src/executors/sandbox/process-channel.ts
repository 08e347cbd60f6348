import type { ChildProcessByStdio } from "node:child_process"
import type { Socket } from "node:net"
import type { Readable, Writable } from "node:stream"
import { Channel } from "./channel.ts"

/** A child with all three streams piped. */
export type PipedProcess = ChildProcessByStdio<Writable, Readable, Readable>

/** The channel over the standard streams of a child process. */
export function processChannel(child: PipedProcess): Channel {
  const { stdin, stdout, stderr } = child
  return new Channel({
    input: stdin,
    outputs: [
      { readable: stdout, read: (chunk, to) => to.onStdout(chunk) },
      { readable: stderr, read: (chunk, to) => to.onStderr(chunk) },
    ],
    // Later than its exit: what it said last is still to be read.
    onOver: (callback) => child.once("close", callback),
    ref: (isNeeded) => {
      // The pipes of a child are sockets.
      const sockets = [stdin, stdout, stderr] as readonly unknown[] as readonly Socket[]
      for (const one of [child, ...sockets]) {
        if (isNeeded) one.ref()
        else one.unref()
      }
    },
  })
}
