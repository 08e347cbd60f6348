import { posix } from "node:path"

const BUILTIN = /^(?:node:)?(fs|fs\/promises)$/
const IS_TYPESCRIPT = /\.[cm]?ts$/
const LONGEST_NAME = 4096
// Of one file: it is held by the host while it is read.
const LONGEST_SOURCE = 16 * 1024 ** 2
const FUNCTIONS =
  "readFileSync writeFileSync appendFileSync existsSync readdirSync mkdirSync unlinkSync rmdirSync rmSync renameSync statSync lstatSync"

/** Where programs find modules: files of the workspace, and `fs`. */
export class JavaScriptModules {
  #files
  #stripTypes

  /** @param {import("./guest-files.mjs").GuestFiles} files @param {(source: string) => string} stripTypes */
  constructor(files, stripTypes) {
    this.#files = files
    this.#stripTypes = stripTypes
  }

  normalize(base, name) {
    if (name.length > LONGEST_NAME) throw new Error("Cannot find module: its name is too long")
    const [, builtin] = BUILTIN.exec(name) ?? []
    if (builtin) return `node:${builtin}`
    return posix.normalize(name.startsWith(".") ? posix.join(posix.dirname(base), name) : name)
  }

  load(name) {
    if (name.startsWith("node:")) return builtinModule(name)
    const path = [name, `${name}.js`, `${name}.ts`].find((each) => this.#files.isFile(each))
    if (path !== undefined) return this.source(path)
    throw new Error(
      `Cannot find module '${name}'. glovebox: the embedded sandbox has no packages; the docker executor has more.`,
    )
  }

  /** The JavaScript of a file. */
  source(path) {
    const source = this.#files.read(path, LONGEST_SOURCE).toString("utf8")
    return IS_TYPESCRIPT.test(path) ? this.#stripTypes(source) : source
  }
}

function builtinModule(name) {
  const isPromises = name.endsWith("/promises")
  const listed = FUNCTIONS.split(" ").map((each) => (isPromises ? each.replace(/Sync$/, "") : each))
  const exported = isPromises ? listed : [...listed, "promises"]
  return `const it = require("${name}")\nexport default it\nexport const { ${exported.join(", ")} } = it\n`
}
