import { z } from "zod"
import { type AnyMessageType, defineMessage } from "../../core/index.ts"

/** How many bytes travel in one message; as text and with what is around them, that is less than 1 MiB. */
export const CHUNK_BYTES = 512 * 1024
/** How long a far end may be asked to wait before it answers that there is nothing new. */
const MAX_WAIT_MS = 60_000

const MAX_DESCRIPTION = 512 * 1024

const id = z.uuid()
const seq = z.int().min(0)
// Checked by what is read from it: a pattern over so long a text would cost more.
const data = z.string().max(Math.ceil(CHUNK_BYTES / 3) * 4)
const waitMs = z.int().min(0).max(MAX_WAIT_MS)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
// Each executor that is made for a key has one: two are never taken for each other.
const instance = z.uuid()

/** Asks to start, stop or restart the executor of a key; asked again with the same id, it waits on. */
export const ExecutorControl = defineMessage(
  "glovebox.executor.Control",
  z.object({ id, action: z.enum(["start", "stop", "restart"]), waitMs }),
)

/** What came of it so far; the description is there once it is done. */
export const ExecutorState = defineMessage(
  "glovebox.executor.State",
  z.object({
    done: z.boolean(),
    instance,
    description: z
      .object({
        kind: z.string().regex(/^[a-z][a-z0-9-]{0,31}$/),
        runsOnHost: z.boolean(),
        /** As JSON; empty where the executor has no policy. */
        policy: z.string().max(MAX_DESCRIPTION),
        policySha256: sha256.optional(),
        beyondPolicy: z
          .array(
            z.object({
              path: z.string(),
              from: z.string(),
              to: z.string(),
              effect: z.enum(["widens", "narrows", "changes"]),
            }),
          )
          .max(256),
        functions: z.string().max(MAX_DESCRIPTION),
      })
      .optional(),
  }),
)

/** A part of something that is too long for one message; the last part comes with what it is for. */
export const ExecutorUpload = defineMessage("glovebox.executor.Upload", z.object({ id, seq, data }))

const last = { id, seq, data, sha256, instance }

/** Runs the code blocks that were uploaded, by the executor that was described; the reply is its first chunk. */
export const ExecutorRun = defineMessage(
  "glovebox.executor.Run",
  z.object({ ...last, events: z.enum(["none", "output", "all"]), waitMs }),
)

/** Puts the files that were uploaded into the workspace. */
export const ExecutorPut = defineMessage("glovebox.executor.Put", z.object(last))

/** Asks for the next chunk of a run. */
export const ExecutorRead = defineMessage("glovebox.executor.Read", z.object({ id, seq, waitMs }))

/** What happened in a run, as bytes of frames; empty when nothing did. */
export const ExecutorChunk = defineMessage(
  "glovebox.executor.Chunk",
  z.object({ seq, data, end: z.boolean(), instance }),
)

/** Says that the run is wanted, though nobody reads just now. */
export const ExecutorKeep = defineMessage("glovebox.executor.Keep", z.object({ id }))

/** Ends a run; the reply comes when it has ended. */
export const ExecutorCancel = defineMessage("glovebox.executor.Cancel", z.object({ id }))

/** It is done; the instance is the one that did it. */
export const ExecutorAck = defineMessage("glovebox.executor.Ack", z.object({ instance }))

/** All that travels, for a runtime that has to read it. */
export const EXECUTOR_MESSAGES: readonly AnyMessageType[] = [
  ExecutorControl,
  ExecutorState,
  ExecutorUpload,
  ExecutorRun,
  ExecutorPut,
  ExecutorRead,
  ExecutorChunk,
  ExecutorKeep,
  ExecutorCancel,
  ExecutorAck,
]
