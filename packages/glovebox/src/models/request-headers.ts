import { z } from "zod"

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/
// Fetch refuses any other, with the value in its message.
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Headers of each request. What is wrong with one is said without its value, which may be a key. */
export const headersSchema = z
  .record(
    z.string().regex(HEADER_NAME, "this is no name of a header"),
    z.string().regex(HEADER_VALUE, "the value has line breaks or letters that a header cannot hold"),
  )
  .default({})

/** A key, without the spaces and the line break that come along from a file; an empty one is none. */
export const apiKeySchema = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]*$/, "a key has no spaces, line breaks or other letters within it")
  .transform((key) => (key === "" ? undefined : key))
  .optional()
