import { createHash, randomUUID } from "node:crypto"
import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { type Message, type Reply } from "../../core/index.ts"
import { writeFrame } from "./frame.ts"
import {
  CHUNK_BYTES,
  ExecutorAck,
  ExecutorCancel,
  ExecutorChunk,
  ExecutorKeep,
  ExecutorPut,
  ExecutorRead,
  ExecutorRun,
  ExecutorUpload,
} from "./messages.ts"
import { FULL, GOOD, RawClient, fileFrame, serve } from "./raw-client.test-kit.ts"
import { BLOCK, ScriptedExecutor, endless } from "./remote.test-kit.ts"

describe("a client cannot", () => {
  it("send more than a call may have, in one part or in many", async () => {
    const ends = await serve(new ScriptedExecutor(), { maxRequestBytes: 600_000 })
    const client = await new RawClient(ends).start()
    const id = randomUUID()
    const part = FULL.toString("base64")
    await client.send(ExecutorUpload({ id, seq: 0, data: part }))
    const last = { ...client.last("x".repeat(100_000), id, 1), events: "all", waitMs: 0 } as const
    await expectFailure(client.send(ExecutorRun(last)), "MESSAGE_TOO_LARGE", /600000B/)
    const small = await new RawClient(await serve(new ScriptedExecutor(), { maxPendingBytes: 10 })).start()
    await expectFailure(small.run(GOOD), "MESSAGE_TOO_LARGE", /10B/)
    await client.send(ExecutorUpload({ id, seq: 0, data: part }))
    await expectFailure(client.send(ExecutorUpload({ id, seq: 1, data: part })), "MESSAGE_TOO_LARGE")
    // What was refused is forgotten whole.
    await client.send(ExecutorUpload({ id, seq: 0, data: part }))
    expect(() => ExecutorUpload({ id, seq: 0, data: "A".repeat(2 * CHUNK_BYTES) })).toThrow(/data/)
  })

  it("fill the memory with calls that it never finishes, alone or with others", async () => {
    const ends = await serve(new ScriptedExecutor(), {
      maxPendingBytes: 3.5 * CHUNK_BYTES,
      maxQueuedPerKey: 2,
    })
    const [one, other] = [new RawClient(ends), new RawClient(ends)]
    const upload = (): Message => ExecutorUpload({ id: randomUUID(), seq: 0, data: FULL.toString("base64") })
    await one.send(upload())
    await one.send(upload())
    await expectFailure(one.send(upload()), "TRY_LATER", /2 calls/)
    await other.send(upload())
    await expectFailure(other.send(upload()), "TRY_LATER", /1792KiB/)
  })

  it("fill the memory with parts that are empty or small, which count for little", async () => {
    const client = await new RawClient(await serve(new ScriptedExecutor())).start()
    for (const bytes of [0, 1, CHUNK_BYTES - 1]) {
      const data = FULL.subarray(0, bytes).toString("base64")
      const upload = client.send(ExecutorUpload({ id: randomUUID(), seq: 0, data }))
      await expectFailure(upload, "MESSAGE_INVALID", /Only the last/)
    }
  })

  it("fill the memory with calls that wait for their turn", async () => {
    const far = new ScriptedExecutor(endless)
    const ends = await serve(far, { maxRunsPerKey: 1, maxPendingBytes: 5000 })
    const [one, other] = [await new RawClient(ends).start(), await new RawClient(ends).start()]
    const large = JSON.stringify({ blocks: [{ ...BLOCK, code: "x".repeat(1500) }] })
    const ids = [randomUUID(), randomUUID(), randomUUID()]
    await one.run(large, ids[0])
    const waiting = [one.run(large, ids[1]), one.run(large, ids[2])]
    await expect.poll(() => ends.service.status.runs).toBe(3)
    await expectFailure(other.run(large), "TRY_LATER", /5000B/)
    const files = Buffer.concat(writeFrame(fileFrame("x", "y".repeat(1500))))
    await expectFailure(other.send(ExecutorPut(other.last(files))), "TRY_LATER", /5000B/)
    for (const id of ids) await one.send(ExecutorCancel({ id }))
    await Promise.allSettled(waiting)
    expect(ExecutorChunk.is(await other.run(large))).toBe(true)
    await other.send(ExecutorPut(other.last(files)))
    await other.send(ExecutorPut(other.last(files)))
  })

  it("fill the memory with files or pieces that are nothing", async () => {
    const far = new ScriptedExecutor()
    const client = await new RawClient(await serve(far)).start()
    const one = Buffer.concat(writeFrame(fileFrame("x", "")))
    const many = Buffer.alloc(one.length * 10_001, one)
    expect(many.length).toBeGreaterThan(2 * CHUNK_BYTES)
    const id = randomUUID()
    const parts = Math.ceil(many.length / CHUNK_BYTES) - 1
    const part = (seq: number): Buffer => many.subarray(seq * CHUNK_BYTES, (seq + 1) * CHUNK_BYTES)
    for (let seq = 0; seq < parts; seq += 1) {
      await client.send(ExecutorUpload({ id, seq, data: part(seq).toString("base64") }))
    }
    const sha256 = createHash("sha256").update(many).digest("hex")
    const put = ExecutorPut({ ...client.last(part(parts), id, parts), sha256 })
    await expectFailure(client.send(put), "MESSAGE_INVALID", /at most 10000 files/)
    const empty = Array.from({ length: 10_001 }, () => Buffer.alloc(0))
    const pieces = Buffer.concat(writeFrame({ ...fileFrame("x", ""), blobs: empty }))
    await expectFailure(client.send(ExecutorPut(client.last(pieces))), "MESSAGE_INVALID")
    expect(far.files).toEqual([])
  })

  it("keep what it never finishes for ever", async () => {
    const ends = await serve(new ScriptedExecutor(), { maxPendingBytes: CHUNK_BYTES, leaseMs: 10 })
    const upload = (): Promise<Reply> =>
      new RawClient(ends).send(ExecutorUpload({ id: randomUUID(), seq: 0, data: FULL.toString("base64") }))
    await upload()
    await expect
      .poll(() =>
        upload().then(
          (reply) => ExecutorAck.is(reply),
          () => false,
        ),
      )
      .toBe(true)
  })

  it("keep a run that it never reads for ever", async () => {
    const far = new ScriptedExecutor(endless)
    const ends = await serve(far, { leaseMs: 200, idleMs: 400 })
    const client = await new RawClient(ends).start()
    const id = randomUUID()
    await client.run(GOOD, id)
    const keep = async (): Promise<number> => {
      await client.send(ExecutorKeep({ id })).catch(() => {})
      return far.running
    }
    await expect.poll(keep, { interval: 10, timeout: 10_000 }).toBe(0)
    expect(ends.service.status).toEqual({ keys: 1, runs: 0 })
  })

  it("send parts out of order, or others than it says", async () => {
    const far = new ScriptedExecutor()
    const client = await new RawClient(await serve(far)).start()
    const id = randomUUID()
    await expectFailure(client.send(ExecutorUpload({ id, seq: 1, data: "" })), "MESSAGE_INVALID", /order/)
    const run = { ...client.last(GOOD), events: "all", waitMs: 0 } as const
    await expectFailure(
      client.send(ExecutorRun({ ...run, sha256: "0".repeat(64) })),
      "MESSAGE_INVALID",
      /hash/,
    )
    expect(far.ran).toEqual([])
  })

  it("ask for more than code to be run", async () => {
    const far = new ScriptedExecutor()
    const client = await new RawClient(await serve(far)).start()
    for (const body of [
      { blocks: [{ ...BLOCK, mounts: ["/"] }] },
      { blocks: [BLOCK], policy: { network: "host" } },
      { blocks: [BLOCK], image: "evil" },
      { blocks: [] },
      [],
      null,
    ]) {
      await expectFailure(client.run(JSON.stringify(body)), "CODE_BLOCK_INVALID")
    }
    await expectFailure(client.run("{"), "CODE_BLOCK_INVALID")
    expect(far.ran).toEqual([])
  })

  it("read a chunk that it has had or that has not come, nor two at a time", async () => {
    const client = await new RawClient(await serve(new ScriptedExecutor(endless))).start()
    const id = randomUUID()
    expect(ExecutorChunk.is(await client.run(GOOD, id))).toBe(true)
    const read = (seq: number, waitMs = 0): Promise<Reply> => client.send(ExecutorRead({ id, seq, waitMs }))
    for (const seq of [0, 2, 99]) await expectFailure(read(seq), "MESSAGE_INVALID", /one after the other/)
    const waiting = read(1, 60_000)
    await expectFailure(read(2), "MESSAGE_INVALID")
    await client.send(ExecutorCancel({ id }))
    await expectFailure(waiting, "EXECUTOR_STOPPED")
  })

  it("read or end the run of another key, whose id it knows", async () => {
    const far = new ScriptedExecutor(endless)
    const ends = await serve(far)
    const [owner, other] = [await new RawClient(ends).start(), await new RawClient(ends).start()]
    const id = randomUUID()
    await owner.run(GOOD, id)
    await expectFailure(other.send(ExecutorRead({ id, seq: 1, waitMs: 0 })), "SANDBOX_LOST")
    await other.send(ExecutorCancel({ id }))
    expect(far.running).toBe(1)
    await expectFailure(owner.run(GOOD, id), "MESSAGE_INVALID", /already/)
  })

  it("put a file outside the workspace, or one that is not what it says", async () => {
    const far = new ScriptedExecutor()
    const client = await new RawClient(await serve(far)).start()
    const put = (path: string, sha256?: string): Promise<Reply> => {
      const body = Buffer.concat(writeFrame(fileFrame(path, "x", sha256)))
      return client.send(ExecutorPut(client.last(body)))
    }
    for (const path of ["../x", "/x", "a/../../x", "", "a\\b", ".glovebox/x", "a\0b"]) {
      await expectFailure(put(path), "CODE_FILE_REFUSED")
    }
    await expectFailure(put("x", "0".repeat(64)), "MESSAGE_INVALID")
    const cut = Buffer.concat(writeFrame({ head: {}, blobs: [Buffer.from("x")] })).subarray(0, -1)
    await expectFailure(client.send(ExecutorPut(client.last(cut))), "MESSAGE_INVALID")
    expect(far.files).toEqual([])
    await put("fine")
    expect(far.files.map(({ path }) => path)).toEqual(["fine"])
  })

  it("run anything on an executor that was not described to it", async () => {
    const far = new ScriptedExecutor()
    const client = new RawClient(await serve(far))
    const reply = await client.run(GOOD)
    expect(ExecutorChunk.is(reply) && reply.end && reply.instance !== client.instance).toBe(true)
    expect(far.ran).toEqual([])
  })
})
