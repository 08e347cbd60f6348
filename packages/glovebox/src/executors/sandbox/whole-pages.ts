// The largest page of the kernels that sandboxes run on; most have smaller ones, of which it is made.
const PAGE_BYTES = 65_536

/** What a kernel makes of a limit of memory, which it keeps in whole pages: never more than was said. */
export function wholePages(bytes: number): number {
  return bytes - (bytes % PAGE_BYTES)
}
