/** A promise that a test opens when it is ready. */
export function gate(): { readonly promise: Promise<void>; readonly open: () => void } {
  let open = (): void => {}
  const promise = new Promise<void>((resolve) => {
    open = resolve
  })
  return { promise, open }
}
