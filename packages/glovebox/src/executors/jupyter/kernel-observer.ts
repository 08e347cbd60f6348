import type { RichMessage } from "./rich-message.ts"

/** Who hears what happens to the kernels of an executor. */
export interface KernelObserver {
  /** A new container, with a new kernel. */
  launched(): void
  /** The kernel showed something while a block ran; returns the text that stands for it. */
  showed(message: RichMessage): { readonly text: string; readonly note: string }
  /** The kernel is gone, and its variables with it. */
  lost(because: string): void
  /** No kernel can be had in the container any more. */
  unusable(): void
}
