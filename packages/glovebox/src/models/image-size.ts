import type { Image } from "./image.ts"

export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** The size that an image's own header states; undefined when it cannot be read. */
export function imageSize({ mediaType, data }: Image): ImageSize | undefined {
  const bytes = Buffer.from(data, "base64")
  try {
    if (mediaType === "image/png") return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
    if (mediaType === "image/gif") return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
    return mediaType === "image/jpeg" ? jpegSize(bytes) : webpSize(bytes)
  } catch (error) {
    // The file ends before its header does.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function jpegSize(bytes: Buffer): ImageSize | undefined {
  let at = 2
  while (bytes.readUInt8(at) === 0xff) {
    const marker = bytes.readUInt8(at + 1)
    // The frames' headers, without the tables and extensions between them.
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

function webpSize(bytes: Buffer): ImageSize | undefined {
  const kind = bytes.toString("latin1", 12, 16)
  if (kind === "VP8X") return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  if (kind === "VP8 ") {
    return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  }
  if (kind !== "VP8L") return undefined
  const bits = bytes.readUInt32LE(21)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}
