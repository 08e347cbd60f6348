import { InvalidArgumentError, Option } from "commander"
import { parseBytes, parseDuration } from "../../policy/index.ts"

const LONGEST_MS = 2 ** 31 - 1

/** How long a process that was told to end lets run what runs. */
export function drainTimeoutOption(): Option {
  return new Option("--drain-timeout <time>", "how long what runs may take to end after a signal")
    .argParser(aTime)
    .default(30_000, "30s")
}

/** A time on the command line, in milliseconds. */
export function aTime(text: string): number {
  const ms = parseDuration(text)
  if (ms !== undefined && ms > 0 && ms <= LONGEST_MS) return ms
  throw new InvalidArgumentError("Write a time such as 500ms, 30s or 2m.")
}

/** A size on the command line, in bytes. */
export function aSize(text: string): number {
  const bytes = parseBytes(text)
  if (bytes !== undefined && bytes > 0) return bytes
  throw new InvalidArgumentError("Write a size such as 4MiB.")
}

export function aCount(text: string): number {
  const count = Number(text)
  if (/^[1-9]\d*$/.test(text) && Number.isSafeInteger(count)) return count
  throw new InvalidArgumentError("Write a whole number above 0.")
}

/** Where a host is; left to gRPC, one without a port would be at 443. */
export function aHostAddress(text: string): string {
  const match = /^(?:unix:.+|(?:\[[0-9a-fA-F:.]+\]|[^:/[\]\s]+):(\d{1,5}))$/.exec(text)
  if (match && Number(match[1] ?? 0) <= 65_535) return text
  throw new InvalidArgumentError("Write host and port, such as 127.0.0.1:50051, or unix: and a path.")
}

export interface TcpAddress {
  readonly host: string
  readonly port: number
}

/** `port`, which is on this machine alone, or `host:port`. */
export function aTcpAddress(text: string): TcpAddress {
  const match = /^(?:(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+)):)?(\d{1,5})$/.exec(text)
  const port = Number(match?.[3] ?? Number.NaN)
  if (match && port <= 65_535) return { host: match[1] ?? match[2] ?? "127.0.0.1", port }
  throw new InvalidArgumentError("Write a port, or an address such as 127.0.0.1:9090.")
}
