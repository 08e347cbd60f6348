import { expect } from "vitest"
import { type ErrorCode, GloveboxError } from "./glovebox-error.ts"

/** Expects a rejection with this code, whose message matches; toMatchObject would not look at an error's message. */
export async function expectFailure(
  promise: Promise<unknown>,
  code: ErrorCode,
  message = /./,
): Promise<GloveboxError> {
  const error = await promise.then(
    (value) => expect.fail(`expected ${code}, but it resolved with ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(GloveboxError)
  const failure = error as GloveboxError
  expect(failure.code).toBe(code)
  expect(failure.message).toMatch(message)
  return failure
}
