import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { Channel, type ChannelListener } from "../sandbox/channel.ts"
import { EngineStream } from "./engine-stream.ts"

/** The channel over the attached streams of a container. */
export function engineChannel(socket: Duplex): Channel {
  let listener: ChannelListener | undefined
  const stream = new EngineStream((name, bytes) => {
    if (name === "stdout") listener?.onStdout(bytes)
    else listener?.onStderr(bytes)
  })
  const read = (chunk: Buffer, to: ChannelListener): void => {
    listener = to
    stream.push(chunk)
  }
  const ref = (isNeeded: boolean): void => {
    const { ref: hold, unref: letGo } = socket as Partial<Socket>
    if (isNeeded) hold?.call(socket)
    else letGo?.call(socket)
  }
  const onOver = (callback: () => void): void => {
    socket.once("end", callback)
    socket.once("close", callback)
  }
  return new Channel({ input: socket, outputs: [{ readable: socket, read }], onOver, ref })
}
