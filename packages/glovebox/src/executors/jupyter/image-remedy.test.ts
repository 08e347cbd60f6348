import { expect, it } from "vitest"
import { GloveboxError } from "../../core/index.ts"
import { withRemedy } from "./image-remedy.ts"

it("only the missing default image gets another message, which names the script", () => {
  const missing = new GloveboxError("IMAGE_UNAVAILABLE", "not to be had")
  const told = withRemedy(missing, "glovebox/jupyter:py3")
  expect(GloveboxError.is(told, "IMAGE_UNAVAILABLE") && told.message).toMatch(/scripts\/jupyter-image/)
  expect(withRemedy(missing, "mine:1")).toBe(missing)
  const other = new GloveboxError("ENGINE_UNAVAILABLE", "gone")
  expect(withRemedy(other, "glovebox/jupyter:py3")).toBe(other)
})
