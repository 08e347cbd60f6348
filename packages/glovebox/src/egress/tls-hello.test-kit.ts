/** A ClientHello with these extensions, in one record. */
export function hello(extensions: readonly (readonly [type: number, data: Buffer])[]): Buffer {
  const list = Buffer.concat(
    extensions.map(([type, data]) => Buffer.concat([uint(type, 2), vector(data, 2)])),
  )
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    vector(Buffer.alloc(32, 8), 1),
    vector(Buffer.from([0x13, 0x01]), 2),
    vector(Buffer.from([0]), 1),
    vector(list, 2),
  ])
  return record(Buffer.concat([Buffer.from([1]), vector(body, 3)]))
}

/** Bytes with their length in front. */
export function vector(bytes: Buffer, width: number): Buffer {
  return Buffer.concat([uint(bytes.length, width), bytes])
}

/** One record of a handshake. */
export function record(fragment: Buffer): Buffer {
  return Buffer.concat([Buffer.from([22, 3, 1]), vector(fragment, 2)])
}

/** The extension with server names. */
export function sni(...names: string[]): readonly [type: number, data: Buffer] {
  const entries = names.map((name) =>
    Buffer.concat([Buffer.from([0]), vector(Buffer.from(name, "latin1"), 2)]),
  )
  return [0, vector(Buffer.concat(entries), 2)]
}

function uint(value: number, width: number): Buffer {
  const bytes = Buffer.alloc(width)
  bytes.writeUIntBE(value, 0, width)
  return bytes
}
