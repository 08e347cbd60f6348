import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"

const FOLDER = new URL("../../../demo/", import.meta.url)

export const DEMO_TASK =
  "Which region ordered most in 2025, and which one grew most over the year? The orders are in orders.csv. Leave me a short report with a table, and a chart."

/** What the demonstration works on. */
export const DEMO_DATA = fileURLToPath(new URL("orders.csv", FOLDER))

/** The programs that the scripted model writes, in order. */
export interface DemoPrograms {
  /** Takes every amount for a number, which they are not. */
  readonly first: string
  readonly second: string
  /** Sends the data to a place on the network. */
  readonly upload: (url: string) => string
}

export async function readDemoPrograms(): Promise<DemoPrograms> {
  const [first, second, upload] = await Promise.all([
    read("first-attempt.py"),
    read("second-attempt.py"),
    read("upload.py"),
  ])
  return { first, second, upload: (url) => upload.replace('"URL"', JSON.stringify(url)) }
}

async function read(name: string): Promise<string> {
  return readFile(new URL(name, FOLDER), "utf8")
}
