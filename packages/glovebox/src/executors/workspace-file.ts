/** A file on its way into or out of a workspace. */
export interface WorkspaceFile {
  /** Relative to the workspace, checked. */
  readonly path: string
  readonly content: Uint8Array
  readonly executable: boolean
}
