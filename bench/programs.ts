export const PRINT = "print(1)"

/** What a model's program typically begins with. */
export const IMPORTS = [
  "import json, re, datetime, collections, random, math, os, sys, subprocess, itertools, functools",
  "import pathlib, dataclasses, typing, urllib.request, csv, statistics, hashlib, asyncio",
  PRINT,
].join("\n")

/** Work for the processor alone. */
export const LOOP = ["total = 0", "for number in range(1_000_000): total += number & 1", PRINT].join("\n")

export const SPINNER = [
  "import signal",
  "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
  "while True: pass",
].join("\n")

export function checkPrinted(output: string, exitCode: number | null): void {
  if (exitCode === 0 && output === "1\n") return
  throw new Error(`A program that prints 1 ended with ${exitCode}, and printed ${JSON.stringify(output)}.`)
}
