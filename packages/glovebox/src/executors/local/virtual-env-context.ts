/** Where a virtual environment of Python is. */
export interface VirtualEnvContext {
  /** The folder with its programs, which comes first on the code's PATH. */
  readonly binPath: string
  /** Its Python. */
  readonly envExe: string
  readonly envDir: string
}
