import { createRequire } from "node:module"

/** Takes the types out of TypeScript; places of what is left stay, but for what has to become other code. */
export function typeStripper(path) {
  let library
  return (source) => {
    library ??= createRequire(path)(path)
    try {
      return library.transformSync(source, { mode: "strip-only" }).code
    } catch (error) {
      if (error?.code !== "UnsupportedSyntax") throw syntaxError(error)
    }
    try {
      return library.transformSync(source, { mode: "transform" }).code
    } catch (error) {
      throw syntaxError(error)
    }
  }
}

function syntaxError({ message, startLine, snippet }) {
  const error = new SyntaxError(`${message} (line ${startLine})`)
  error.stack = snippet
  return error
}
