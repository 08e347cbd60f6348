import type { ByteStream } from "./byte-stream.ts"
import { timeouts } from "./timeouts.ts"

/** Lets a client have its answer, and what else is on its way, before the end; or cuts it off. Never rejects. */
export async function takeLeave(client: ByteStream, answer: Buffer | "cut" | undefined): Promise<void> {
  const timer = setTimeout(() => client.destroy(), timeouts.leave)
  try {
    if (answer === "cut") return await client.flush()
    if (answer) client.send(answer)
    await client.finish()
    // Bytes that nobody has read would make a reset of the end, and the client would lose the answer.
    while (await client.read());
  } catch {
    // It is gone already.
  } finally {
    clearTimeout(timer)
    client.destroy()
  }
}
