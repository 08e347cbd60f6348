import { z } from "zod"
import { GloveboxError } from "../core/index.ts"
import { shorten } from "../internal/describe.ts"

const MEDIA_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const

export type ImageMediaType = (typeof MEDIA_TYPES)[number]

/** A picture as data: it survives JSON, so it can be part of a message and of a saved state. */
export interface Image {
  readonly type: "Image"
  readonly mediaType: ImageMediaType
  /** The file's bytes in base64. */
  readonly data: string
}

export const imageSchema: z.ZodType<Image> = z.object({
  type: z.literal("Image"),
  mediaType: z.enum(MEDIA_TYPES),
  data: z.base64().min(1),
})

/** An image from a file's bytes; the kind is read from the bytes themselves. */
export function image(bytes: Uint8Array): Image {
  const mediaType = sniff(bytes)
  if (mediaType === undefined) {
    throw new GloveboxError(
      "IMAGE_INVALID",
      `These ${bytes.length} bytes are no PNG, JPEG, GIF or WebP image. Convert the image to one of them.`,
    )
  }
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64")
  return { type: "Image", mediaType, data }
}

/** An image from a `data:` URI or from base64 alone. */
export function imageFromBase64(text: string): Image {
  const payload = text.replace(/^data:[^,]*;base64,/i, "").replace(/\s+/g, "")
  if (payload === "" || !z.base64().safeParse(payload).success) {
    throw new GloveboxError("IMAGE_INVALID", `${JSON.stringify(shorten(text))} is no base64 and no data URI.`)
  }
  return image(Buffer.from(payload, "base64"))
}

export function imageDataUri({ mediaType, data }: Image): string {
  return `data:${mediaType};base64,${data}`
}

function sniff(bytes: Uint8Array): ImageMediaType | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1")
  if (head.startsWith("\x89PNG\r\n\x1A\n")) return "image/png"
  if (head.startsWith("\xFF\xD8\xFF")) return "image/jpeg"
  if (/^GIF8[79]a/.test(head)) return "image/gif"
  if (/^RIFF[^]{4}WEBP/.test(head)) return "image/webp"
  return undefined
}
