import { createRequire } from "node:module"

/** Takes the types out of TypeScript; places of what is left stay, but for what has to become other code. */
export function typeStripper(path) {
  const require = createRequire(path)
  let library
  const transformed = (source, mode) => {
    library ??= require(path)
    try {
      return library.transformSync(source, { mode }).code
    } catch (error) {
      if (!(error instanceof RangeError || error instanceof WebAssembly.RuntimeError)) throw error
      // It is in the middle of something, for good: the next source gets another one.
      library = undefined
      delete require.cache[path]
      throw new SyntaxError("The source is too large, or too deeply nested, to take its types out.")
    }
  }
  return (source) => {
    try {
      return transformed(source, "strip-only")
    } catch (error) {
      if (error?.code !== "UnsupportedSyntax") throw syntaxError(error)
    }
    try {
      return transformed(source, "transform")
    } catch (error) {
      throw syntaxError(error)
    }
  }
}

function syntaxError(thrown) {
  if (thrown instanceof SyntaxError) return thrown
  const { message, startLine, snippet } = thrown
  const error = new SyntaxError(`${message} (line ${startLine})`)
  error.stack = snippet
  return error
}
