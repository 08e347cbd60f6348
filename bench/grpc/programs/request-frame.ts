import { randomUUID } from "node:crypto"
// The built code, as users run it; the package keeps this to itself, so it is reached by its file.
import { encodeMessage } from "../../../packages/glovebox/dist/runtimes/grpc/wire/codec.js"
import { ask } from "./messages.ts"

/** The bytes that a worker sends for a request of this bench. */
export const requestFrame: Buffer = encodeMessage({
  request: {
    request_id: `${randomUUID()}:1000000`,
    target: { type: "echo", key: "one" },
    payload: {
      data_type: "Ask",
      data_content_type: "application/json",
      data: Buffer.from(JSON.stringify({ content: ask.content })),
    },
    metadata: { "glovebox-timeout-ms": "600000" },
  },
  seq: 1_000_000,
})
