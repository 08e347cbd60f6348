import { CAPABILITY_NAMES } from "../../policy/capability-names.ts"

/** The capabilities in a mask of `/proc/<pid>/status`; undefined for what is no mask. */
export function capabilitiesIn(mask: string | null | undefined): string[] | undefined {
  if (!mask || !/^[0-9a-f]+$/i.test(mask)) return undefined
  const bits = BigInt(`0x${mask}`).toString(2).split("").toReversed()
  return bits
    .flatMap((bit, number) => (bit === "1" ? [CAPABILITY_NAMES[number] ?? `CAP_${number}`] : []))
    .toSorted()
}
