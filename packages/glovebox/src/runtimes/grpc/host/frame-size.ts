import type { CloudEvent, RpcRequest, WirePayload } from "../wire/wire-message.ts"

// Above what numbers, tags and lengths of a frame take.
const OVERHEAD = 256
// Of UTF-8, for each unit of a string in memory.
const MAX_BYTES_PER_CHAR = 3
const PER_ENTRY = 16

/** About what a frame takes in memory, without encoding it. */
export function requestSize({ request_id, source, target, method, payload, metadata }: RpcRequest): number {
  const names =
    request_id.length +
    (source ? source.type.length + source.key.length : 0) +
    (target ? target.type.length + target.key.length : 0) +
    (method?.length ?? 0)
  return OVERHEAD + MAX_BYTES_PER_CHAR * names + payloadSize(payload) + mapSize(metadata)
}

export function eventSize(event: CloudEvent): number {
  const names = event.id.length + event.source.length + event.type.length + (event.text_data?.length ?? 0)
  const proto = event.proto_data ? event.proto_data.type_url.length + event.proto_data.value.length : 0
  let size = OVERHEAD + MAX_BYTES_PER_CHAR * names + (event.binary_data?.length ?? 0) + proto
  for (const name in event.attributes) {
    const { ce_string, ce_bytes, ce_uri, ce_uri_ref } = event.attributes[name] ?? {}
    const text = (ce_string ?? ce_uri ?? ce_uri_ref)?.length ?? 0
    size += PER_ENTRY + MAX_BYTES_PER_CHAR * (name.length + text) + (ce_bytes?.length ?? 0)
  }
  return size
}

function payloadSize(payload: WirePayload | null | undefined): number {
  if (!payload) return 0
  const names = payload.data_type.length + payload.data_content_type.length
  return payload.data.length + MAX_BYTES_PER_CHAR * names
}

function mapSize(map: Readonly<Record<string, string>> | undefined): number {
  let size = 0
  for (const name in map) {
    size += PER_ENTRY + MAX_BYTES_PER_CHAR * (name.length + (map[name]?.length ?? 0))
  }
  return size
}
