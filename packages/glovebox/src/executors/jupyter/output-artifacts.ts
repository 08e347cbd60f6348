import { createHash } from "node:crypto"
import type { Artifact } from "../code-result.ts"
import type { RichOutput } from "../rich-output.ts"
import { type InertFile, inertFile } from "./inert-file.ts"

export interface NamedOutputs {
  readonly outputs: readonly RichOutput[]
  readonly artifacts: readonly Artifact[]
  /** Whether each that should have a file has one. */
  readonly isWhole: boolean
}

const NUMBERED = /^output-(\d{1,9})(?!\d)/

/** Gives the outputs of an executor's calls files of their own: `output-1.png`, `output-2.html`. */
export class OutputArtifacts {
  #count = 0

  /** Numbers up to the greatest of these names are not used any more, whatever becomes of their files. */
  passOver(names: Iterable<string>): void {
    for (const name of names) this.passOverNumber(Number(NUMBERED.exec(name)?.[1] ?? 0))
  }

  passOverNumber(number: number): void {
    this.#count = Math.max(this.#count, number)
  }

  /** The outputs with the names of their files, and the files. */
  name(outputs: readonly RichOutput[]): NamedOutputs {
    const artifacts: Artifact[] = []
    const numbers = new Map<number, number>()
    let isWhole = true
    const named = outputs.map((output): RichOutput => {
      const file = tryFile(output)
      if (file === "none") isWhole = false
      if (!file || file === "none") return output
      const number = numbers.get(output.display) ?? (this.#count += 1)
      numbers.set(output.display, number)
      const { content, extension } = file
      const path = freeName(
        `output-${number}`,
        extension,
        artifacts.map((artifact) => artifact.path),
      )
      const sha256 = createHash("sha256").update(content).digest("hex")
      artifacts.push({ path, size: content.length, sha256, executable: false, content })
      return { ...output, artifact: path }
    })
    return { outputs: named, artifacts, isWhole }
  }
}

// What cannot be made into a file must not cost the call its result.
function tryFile(output: RichOutput): InertFile | undefined | "none" {
  try {
    return inertFile(output)
  } catch {
    return "none"
  }
}

// Two forms of one thing may have the same extension: "+json" types.
function freeName(stem: string, extension: string, used: readonly string[]): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? `${stem}.${extension}` : `${stem}-${number}.${extension}`
    if (!used.includes(name)) return name
  }
}
