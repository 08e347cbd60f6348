import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { OWNER_LABEL, newOwner, ownerLabels, ownerState } from "./ownership.ts"

const ours = ownerLabels({ owner: "me", policySha256: "abc", isKept: false })
const PROCESS = "org.glovebox.process"

describe("ownership", () => {
  it("labels what is ours with the owner, the process, the machine and the policy", () => {
    expect(Object.keys(ours).toSorted()).toEqual([
      "org.glovebox.host",
      "org.glovebox.keep",
      "org.glovebox.owner",
      "org.glovebox.policy",
      "org.glovebox.process",
    ])
    expect(ours).toMatchObject({ [OWNER_LABEL]: "me", "org.glovebox.policy": "abc" })
    expect(newOwner()).not.toBe(newOwner())
  })

  it("takes what this process made for alive", () => {
    expect(ownerState(ours)).toBe("alive")
  })

  it("takes what a process made that is gone, or whose number another has by now, for dead", () => {
    for (const process of [
      "4194304:1",
      "999999999999:5",
      `${globalThis.process.pid}:1`,
      "",
      "x",
      "-1:2",
      "1e1:2",
    ]) {
      expect([process, ownerState({ ...ours, [PROCESS]: process })]).toEqual([process, "dead"])
    }
  })

  it.runIf(process.platform === "linux")("tells a process by the ticks at which it started", () => {
    const stat = readFileSync(`/proc/${process.pid}/stat`, "latin1")
    const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[22 - 3]
    expect(ours[PROCESS]).toBe(`${process.pid}:${start}`)
    const parent = readFileSync(`/proc/${process.ppid}/stat`, "latin1")
    const parentStart = parent.slice(parent.lastIndexOf(")") + 2).split(" ")[22 - 3]
    expect(ownerState({ ...ours, [PROCESS]: `${process.ppid}:${parentStart}` })).toBe("alive")
  })

  it("knows nothing of another machine's processes, nor of one that is not named", () => {
    expect(ownerState({ ...ours, "org.glovebox.host": "elsewhere" })).toBe("elsewhere")
    const { "org.glovebox.host": _host, ...rest } = ours
    expect(ownerState(rest)).toBe("elsewhere")
    expect(ownerState({})).toBe("elsewhere")
  })

  it("leaves what the user asked to keep, also of a dead owner", () => {
    const kept = ownerLabels({ owner: "me", policySha256: "abc", isKept: true })
    expect(ownerState(kept)).toBe("kept")
    expect(ownerState({ ...kept, [PROCESS]: "4194304:1" })).toBe("kept")
    expect(ownerState({ ...kept, "org.glovebox.host": "elsewhere" })).toBe("kept")
  })
})
