import { createHash } from "node:crypto"
import type { Artifact } from "../code-result.ts"
import type { RichOutput } from "../rich-output.ts"
import { inertFile } from "./inert-file.ts"

/** Gives the outputs of an executor's calls files of their own: `output-1.png`, `output-2.html`. */
export class OutputArtifacts {
  #count = 0

  /** The outputs with the names of their files, and the files. */
  name(
    outputs: readonly RichOutput[],
    taken: ReadonlySet<string>,
  ): { readonly outputs: RichOutput[]; readonly artifacts: Artifact[] } {
    const artifacts: Artifact[] = []
    const numbers = new Map<number, number>()
    const named = outputs.map((output): RichOutput => {
      const file = inertFile(output)
      if (!file) return output
      const number = numbers.get(output.display) ?? this.#next(taken)
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
    return { outputs: named, artifacts }
  }

  // A number whose files cannot take the place of others.
  #next(taken: ReadonlySet<string>): number {
    do this.#count += 1
    while ([...taken].some((path) => path.startsWith(`output-${this.#count}.`)))
    return this.#count
  }
}

// Two forms of one thing may have the same extension: "+json" types.
function freeName(stem: string, extension: string, used: readonly string[]): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? `${stem}.${extension}` : `${stem}-${number}.${extension}`
    if (!used.includes(name)) return name
  }
}
