import type { RichMessage } from "./rich-message.ts"

/** Who hears what happens to the kernels of an executor. */
export interface KernelObserver {
  /** A new container, with a new kernel. */
  launched(): void
  /** The kernel showed something while a block ran; returns what stderr is to say of it. */
  showed(message: RichMessage): string
  /** A block is over, and the greatest number of the files named `output-<number>` is this. */
  counted(lastOutput: number): void
  /** The kernel is gone, and its variables with it. */
  lost(because: string): void
  /** No kernel can be had in the container any more. */
  unusable(): void
}
