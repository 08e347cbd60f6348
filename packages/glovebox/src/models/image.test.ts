import { describe, expect, it } from "vitest"
import { failureOf } from "../core/failure-of.test-kit.ts"
import { image, imageDataUri, imageFromBase64 } from "./index.ts"

describe("image", () => {
  it.each([
    ["image/png", "\x89PNG\r\n\x1A\n...."],
    ["image/jpeg", "\xFF\xD8\xFF\xE0...."],
    ["image/gif", "GIF89a......"],
    ["image/webp", "RIFF....WEBPVP8 "],
  ])("knows %s by its first bytes", (mediaType, head) => {
    const bytes = Buffer.from(head, "latin1")
    const made = image(bytes)
    expect(made).toEqual({ type: "Image", mediaType, data: bytes.toString("base64") })
    expect(imageFromBase64(imageDataUri(made))).toEqual(made)
    expect(imageFromBase64(made.data)).toEqual(made)
  })

  it("takes a part of a larger buffer", () => {
    const buffer = Buffer.from("....GIF89a......", "latin1")
    expect(image(buffer.subarray(4)).data).toBe(Buffer.from("GIF89a......").toString("base64"))
  })

  it("refuses anything else", () => {
    expect(failureOf(() => image(Buffer.from("<svg/>")))).toMatch(/^IMAGE_INVALID: .*6 bytes/)
    expect(failureOf(() => imageFromBase64("not base64!"))).toMatch(/^IMAGE_INVALID: .*base64/)
    expect(failureOf(() => imageFromBase64("data:image/png;base64,AAAA"))).toMatch(/^IMAGE_INVALID/)
  })
})
