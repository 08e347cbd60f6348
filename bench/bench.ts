import type { JsonObject } from "glovebox/core"

/** Measures something, prints it line by line for people, and returns the numbers for programs. */
export type Bench = (print: (line: string) => void) => Promise<JsonObject>
