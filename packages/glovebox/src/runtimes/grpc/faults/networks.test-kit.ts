import { execFileSync } from "node:child_process"

/** True where network namespaces can be made: by root, with iproute2. */
export const HAS_NETWORKS = process.getuid?.() === 0 && canRun()

function canRun(): boolean {
  try {
    ip("netns", "list")
    return true
  } catch {
    return false
  }
}

function ip(...args: readonly string[]): void {
  execFileSync("ip", args, {
    stdio: "pipe",
    env: { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` },
  })
}

interface Spoke {
  readonly name: string
  readonly address: string
}

/** Networks of a test's own: a hub with a cable to each of its spokes, and none to anything else. */
export class Networks implements Disposable {
  readonly #prefix = `gbx${process.pid}`
  readonly #spokes: Spoke[] = []

  constructor(spokes: number) {
    ip("netns", "add", this.hub)
    for (let index = 1; index <= spokes; index++) this.#add(index)
  }

  get hub(): string {
    return `${this.#prefix}hub`
  }

  /** What runs a program in the network of a spoke; counted from 0. */
  under(spoke: number | "hub"): readonly string[] {
    return ["ip", "netns", "exec", spoke === "hub" ? this.hub : this.#spoke(spoke).name]
  }

  /** Where a spoke finds the hub. */
  hubAddress(spoke: number): string {
    return this.#spoke(spoke).address
  }

  /** Pulls the cable: whatever is on its way is gone, and nobody is told. */
  cut(spoke: number): void {
    ip("-n", this.hub, "link", "set", this.#spoke(spoke).name, "down")
  }

  join(spoke: number): void {
    ip("-n", this.hub, "link", "set", this.#spoke(spoke).name, "up")
  }

  [Symbol.dispose](): void {
    // The cables go with them.
    for (const name of [this.hub, ...this.#spokes.map((spoke) => spoke.name)]) ip("netns", "delete", name)
  }

  #add(index: number): void {
    const name = `${this.#prefix}s${index}`
    const address = `10.213.${index}.1`
    ip("netns", "add", name)
    this.#spokes.push({ name, address })
    ip("-n", this.hub, "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
    ip("-n", this.hub, "address", "add", `${address}/30`, "dev", name)
    ip("-n", name, "address", "add", `10.213.${index}.2/30`, "dev", "eth0")
    ip("-n", this.hub, "link", "set", name, "up")
    ip("-n", name, "link", "set", "eth0", "up")
  }

  #spoke(index: number): Spoke {
    const spoke = this.#spokes[index]
    if (!spoke) throw new Error(`There is no spoke ${index}.`)
    return spoke
  }
}
