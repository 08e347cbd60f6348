export type HostState = "unknown" | "up" | "down"

/** Whether an engine has an image: it can also be that it tried to get it, and could not. */
export type ImageState = "present" | "absent" | "unavailable"

/** What placement knows of an engine. */
export interface HostView {
  readonly name: string
  readonly capacity: number
  readonly running: number
  readonly state: HostState
  readonly isDraining: boolean
  /** Whether work failed there lately before it began: it is chosen last. */
  readonly isTroubled: boolean
  imageState(image: string): ImageState
}

export interface PlaceRequest {
  /** Names of the engines that may be used. */
  readonly hosts: ReadonlySet<string>
  readonly image: string
  /** Whether an engine without the image may get it. */
  readonly canPull: boolean
  /** Engines on which this work failed before it began. */
  readonly tried: ReadonlySet<string>
  /** The one engine on which a session lives, drained or not. */
  readonly only?: string | undefined
}

export type Placement<Host> =
  | { readonly kind: "placed"; readonly host: Host }
  | { readonly kind: "wait" }
  | { readonly kind: "none"; readonly because: "tried" | "down" | "draining" | "image" }

/** The engine for a piece of work: one with the image, and of those the one with the most room. */
export function place<Host extends HostView>(hosts: readonly Host[], request: PlaceRequest): Placement<Host> {
  const { image, canPull, tried, only } = request
  if (only !== undefined) return placeOn(hosts.find(({ name }) => name === only))
  const left = hosts.filter(({ name }) => request.hosts.has(name) && !tried.has(name))
  if (left.length === 0) return { kind: "none", because: "tried" }
  const open = left.filter(({ state, isDraining }) => state === "up" && !isDraining)
  const isUnknown = left.some(({ state, isDraining }) => state === "unknown" && !isDraining)
  if (open.length === 0) {
    if (isUnknown) return { kind: "wait" }
    return { kind: "none", because: left.some(({ isDraining }) => isDraining) ? "draining" : "down" }
  }
  const usable = open.filter((host) => {
    const state = host.imageState(image)
    return state === "present" || (canPull && state === "absent")
  })
  if (usable.length === 0 && isUnknown) return { kind: "wait" }
  if (usable.length === 0) {
    const isDrained = left.some((host) => host.isDraining && host.imageState(image) === "present")
    return { kind: "none", because: isDrained ? "draining" : "image" }
  }
  const [best] = usable
    .filter(hasRoom)
    .toSorted((a, b) => rank(a, image) - rank(b, image) || room(b) - room(a))
  return best ? { kind: "placed", host: best } : { kind: "wait" }
}

// A session's sandbox may be there still when its engine answers again; that it is gone for good is told by the host.
function placeOn<Host extends HostView>(host: Host | undefined): Placement<Host> {
  return host?.state === "up" && hasRoom(host) ? { kind: "placed", host } : { kind: "wait" }
}

function rank(host: HostView, image: string): number {
  return (host.isTroubled ? 2 : 0) + (host.imageState(image) === "present" ? 0 : 1)
}

function room({ capacity, running }: HostView): number {
  return capacity - running
}

function hasRoom(host: HostView): boolean {
  return room(host) > 0
}
