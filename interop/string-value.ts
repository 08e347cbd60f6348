import { type MessageSerializer, defineMessage } from "glovebox/core"
import { z } from "zod"

/** `google.protobuf.StringValue`. */
export const StringValue = defineMessage("google.protobuf.StringValue", z.object({ value: z.string() }))

const URL = "type.googleapis.com/google.protobuf.StringValue"
const FIELD_1 = 0x0a
const FIELD_2 = 0x12

/** As AutoGen writes protobuf: an `Any`. Only for texts whose length is one byte. */
export const stringValueSerializer: MessageSerializer = {
  typeName: StringValue.typeName,
  contentType: "application/x-protobuf",
  serialize: (message) =>
    Buffer.concat([
      field(FIELD_1, Buffer.from(URL)),
      field(FIELD_2, field(FIELD_1, Buffer.from(StringValue.parse(message).value))),
    ]),
  deserialize: (data) => {
    const inside = Buffer.from(data).subarray(2 + URL.length + 2)
    return StringValue({ value: inside.subarray(2).toString() })
  },
}

function field(tag: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, bytes.length]), bytes])
}
