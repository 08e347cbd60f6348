/** True for an Error; false for anything that cannot even be asked, such as a revoked proxy. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error
  } catch {
    return false
  }
}
