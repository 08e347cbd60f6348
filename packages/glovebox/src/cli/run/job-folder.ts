import { createHash } from "node:crypto"
import { rmSync } from "node:fs"
import { copyFile, mkdtemp, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { FolderWorkspace } from "../../executors/folder-workspace.ts"
import { isWorkspacePath } from "../../executors/workspace-path.ts"
import type { WorkspaceFile } from "../../executors/workspace-file.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { CommandFailure, EXIT_USAGE } from "../command-failure.ts"

const EVERYTHING = { maxFiles: Infinity, maxBytes: Infinity }

/** The files of a job, in a folder that is there for its length: what was given to it, and what its code made. */
export class JobFolder implements AsyncDisposable {
  readonly path: string
  /** The names of the files that were given. */
  readonly given: readonly string[]
  readonly #before: ReadonlyMap<string, string>
  // Whoever leaves in a hurry, as at a second Ctrl-C, leaves no copies of the user's files behind.
  readonly #onExit = (): void => rmSync(this.path, { recursive: true, force: true })

  private constructor(path: string, before: ReadonlyMap<string, string>) {
    this.path = path
    this.given = [...before.keys()]
    this.#before = before
    process.once("exit", this.#onExit)
  }

  /** Makes the folder and puts copies of the files into it. */
  static async make(files: readonly string[]): Promise<JobFolder> {
    const path = await mkdtemp(join(tmpdir(), "glovebox-job-"))
    try {
      for (const file of files) await putInto(path, file)
      return new JobFolder(path, await digests(path))
    } catch (error) {
      await rm(path, { recursive: true, force: true })
      throw error
    }
  }

  /** What was given, by hash, for the record. */
  get digests(): readonly { readonly path: string; readonly sha256: string }[] {
    return [...this.#before].map(([path, sha256]) => ({ path, sha256 }))
  }

  /** The files that were made or changed. */
  async made(): Promise<readonly WorkspaceFile[]> {
    const files = await read(this.path)
    return files.filter(({ path, content }) => this.#before.get(path) !== sha256(content))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true })
    process.off("exit", this.#onExit)
  }
}

async function putInto(folder: string, file: string): Promise<void> {
  const name = basename(file)
  const refuse = (why: string, cause?: unknown): never => {
    throw new CommandFailure(`--file ${file} cannot be given: ${why}.`, { cause, exitCode: EXIT_USAGE })
  }
  if (!isWorkspacePath(name)) refuse("its name is not one that a workspace takes")
  const target = join(folder, name)
  if (await stat(target).catch(() => undefined)) refuse(`another file is called ${name} too`)
  const found = await stat(file).catch((cause: unknown) => refuse(errorMessage(cause), cause))
  if (found?.isDirectory()) refuse("it is a folder; --work-dir takes one")
  if (!found?.isFile()) refuse("it is no file")
  await copyFile(file, target).catch((cause: unknown) => refuse(errorMessage(cause), cause))
}

async function read(folder: string): Promise<readonly WorkspaceFile[]> {
  return new FolderWorkspace(folder, EVERYTHING).read()
}

async function digests(folder: string): Promise<ReadonlyMap<string, string>> {
  return new Map((await read(folder)).map(({ path, content }) => [path, sha256(content)]))
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex")
}
