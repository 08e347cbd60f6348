// By signal: one listener of ours, however many wait; Node looks through all listeners for each one added.
const watched = new WeakMap<AbortSignal, Set<(reason: unknown) => void>>()

/** Calls back when the signal aborts, at once when it has; the result stops watching. */
export function watchAbort(signal: AbortSignal, onAbort: (reason: unknown) => void): () => void {
  if (signal.aborted) {
    onAbort(signal.reason)
    return () => {}
  }
  const watchers = watched.get(signal) ?? watch(signal)
  // A function of its own, so that one callback may watch twice.
  const watcher = (reason: unknown): void => onAbort(reason)
  watchers.add(watcher)
  return () => {
    watchers.delete(watcher)
    if (watchers.size === 0 && watched.get(signal) === watchers) unwatch(signal)
  }
}

const listeners = new WeakMap<AbortSignal, () => void>()

function watch(signal: AbortSignal): Set<(reason: unknown) => void> {
  const watchers = new Set<(reason: unknown) => void>()
  const listener = (): void => {
    watched.delete(signal)
    listeners.delete(signal)
    for (const watcher of watchers) watcher(signal.reason)
  }
  watched.set(signal, watchers)
  listeners.set(signal, listener)
  signal.addEventListener("abort", listener, { once: true })
  return watchers
}

function unwatch(signal: AbortSignal): void {
  const listener = listeners.get(signal)
  if (listener) signal.removeEventListener("abort", listener)
  watched.delete(signal)
  listeners.delete(signal)
}
