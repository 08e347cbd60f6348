import { GloveboxError } from "../core/index.ts"
import { describe } from "../internal/describe.ts"
import type { WorkspaceFile } from "./workspace-file.ts"
import { workspacePath } from "./workspace-path.ts"

/** A file for the workspace. */
export interface InputFile {
  /** Below the workspace. */
  readonly path: string
  readonly content: Uint8Array
  /** @default false */
  readonly executable?: boolean | undefined
}

/** The files as a workspace keeps them; CODE_FILE_REFUSED for a path that leads out of it. */
export function checkInputFiles(files: readonly InputFile[]): readonly WorkspaceFile[] {
  if (!Array.isArray(files))
    throw invalid(`The files are ${describe(files)}. Pass a list of { path, content }.`)
  return files.map((file: Partial<InputFile> | undefined) => {
    const { path, content, executable = false } = file ?? {}
    if (!(content instanceof Uint8Array) || typeof path !== "string" || typeof executable !== "boolean") {
      throw invalid("A file is a path, its content as bytes, and executable: true or false.")
    }
    return { path: workspacePath(path), content, executable }
  })
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("OPTION_INVALID", message)
}
