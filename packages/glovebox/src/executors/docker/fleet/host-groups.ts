import { SandboxGroup, type SandboxGroupOptions } from "./sandbox-group.ts"

export type GroupKind = Omit<SandboxGroupOptions, "engine" | "onLeft" | "onClosed">
type HostPart = Pick<SandboxGroupOptions, "engine" | "onLeft">

/** The groups of containers on one engine, by who uses them. */
export class HostGroups {
  readonly #host: HostPart
  readonly #opening = new Map<string, Promise<SandboxGroup>>()
  readonly #open = new Map<string, SandboxGroup>()
  // Also those that are retired and end with their last call.
  readonly #all = new Set<SandboxGroup>()

  constructor(host: HostPart) {
    this.#host = host
  }

  /** Those that take work. */
  get open(): ReadonlyMap<string, SandboxGroup> {
    return this.#open
  }

  /** The containers of one kind, made ready when they are first asked for. */
  async get(key: string, kind: GroupKind, lost: AbortSignal): Promise<SandboxGroup> {
    const known = this.#opening.get(key)
    if (known) return known
    const onClosed = (group: SandboxGroup): void => void this.#all.delete(group)
    const opening = SandboxGroup.open({ ...kind, ...this.#host, onClosed }, lost).then(
      (group) => {
        this.#all.add(group)
        if (this.#opening.get(key) === opening) this.#open.set(key, group)
        // The engine went away meanwhile.
        else group.retire()
        return group
      },
      (error: unknown) => {
        if (this.#opening.get(key) === opening) this.#opening.delete(key)
        throw error
      },
    )
    this.#opening.set(key, opening)
    return opening
  }

  /** Lets go of one. */
  async end(key: string): Promise<void> {
    const group = this.#opening.get(key)
    this.#opening.delete(key)
    this.#open.delete(key)
    await group?.then(async (open) => open.close()).catch(() => {})
  }

  /** Lets each go as soon as no call uses it. */
  retire(): void {
    for (const group of this.#open.values()) group.retire()
    this.#opening.clear()
    this.#open.clear()
  }

  /** Ends all that there are now, with what runs there; not those that come to be meanwhile. */
  async close(): Promise<void> {
    const all = [...this.#all]
    const ending = [...this.#opening.keys()].map(async (key) => this.end(key))
    await Promise.all([...ending, ...all.map(async (group) => group.close())])
  }
}
