import { type Duplex, PassThrough, Writable } from "node:stream"
import { AgentFrames, broken, encodeFrame } from "./agent-frames.ts"
import { Channel, type ChannelOutput } from "./channel.ts"
import { Tunnel } from "./tunnel.ts"

/** The channel of an agent that runs behind `tunnel.mjs`: what both say comes over one stream, and is told apart here. */
export function tunnelledChannel(outer: Channel, accept: (client: Duplex) => void): Channel {
  const tunnel = new Tunnel({ accept, write: (parts) => outer.writeAll(parts) })
  const input = new Writable({
    write: (chunk: Buffer, _encoding, done) => void pass(outer, chunk, done),
    destroy: (error, done) => {
      tunnel.close()
      outer.close()
      done(error)
    },
  })
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const outputs: ChannelOutput[] = [
    { readable: stdout, read: (chunk, to) => to.onStdout(chunk) },
    { readable: stderr, read: (chunk, to) => to.onStderr(chunk) },
  ]
  const give = (stream: PassThrough, bytes: Buffer): void => {
    if (stream.write(bytes)) return
    outer.pause()
    stream.once("drain", () => outer.resume())
  }
  const frames = new AgentFrames(({ type, payload }) => {
    if (type === "a") give(stdout, payload)
    else if (type === "t") tunnel.onFrame(payload)
    else throw broken(`a frame "${type}" beside its connections`)
  })
  const inner = new Channel({
    input,
    outputs,
    onOver: (callback) => void stdout.once("close", callback),
    ref: (isNeeded) => outer.ref(isNeeded),
    hold: (isHeld) => (isHeld ? outer.pause() : outer.resume()),
  })
  outer.listen({
    onStdout: (bytes) => frames.push(bytes),
    onStderr: (bytes) => give(stderr, bytes),
    onEnd: (error) => {
      tunnel.close()
      if (error) inner.fail(error)
      // What came before the end is still to be read.
      stdout.end()
      stderr.end()
    },
  })
  return inner
}

async function pass(outer: Channel, chunk: Buffer, done: () => void): Promise<void> {
  await outer.write(encodeFrame("A", chunk))
  done()
}
