import { twoDecimals, whole } from "../format-number.ts"
import { formatTable } from "../format-table.ts"
import type { ConcurrentDownloads } from "./concurrent-downloads.ts"
import { DOWNLOADS, DOWNLOAD_BYTES, REQUESTS, ROUNDS, TRANSFER_BYTES } from "./settings.ts"

const MB = 1_000_000

/** Seconds of each, direct and through the tunnel. */
export type TransferName =
  | "directDownload"
  | "tunnelDownload"
  | "directUpload"
  | "tunnelUpload"
  | "directRequest"
  | "tunnelRequest"

export type Transfers = Readonly<Record<TransferName, number>>

export function rate(seconds: number, bytes: number = TRANSFER_BYTES): number {
  return bytes / MB / seconds
}

export function transferReport(times: Transfers): string {
  return formatTable(
    [`Python, medians of ${ROUNDS} interleaved rounds`, "direct", "tunnel", "ratio"],
    [
      rateRow(`download of ${TRANSFER_BYTES / MB} MB, MB/s`, times.directDownload, times.tunnelDownload),
      rateRow(`upload of ${TRANSFER_BYTES / MB} MB, MB/s`, times.directUpload, times.tunnelUpload),
      [
        `a small request, ms (p50 of ${REQUESTS})`,
        twoDecimals(times.directRequest * 1000),
        twoDecimals(times.tunnelRequest * 1000),
        twoDecimals(times.tunnelRequest / times.directRequest),
      ],
    ],
  )
}

export function concurrentReport({ seconds, beforeBytes, peakBytes }: ConcurrentDownloads): string {
  return (
    `\n${DOWNLOADS} downloads of ${DOWNLOAD_BYTES / MB} MB at once: ${twoDecimals(seconds)} s, ` +
    `${whole(rate(seconds, DOWNLOADS * DOWNLOAD_BYTES))} MB/s; this process has ${mib(beforeBytes)} resident before ` +
    `and ${mib(peakBytes)} at its peak, ${mib(peakBytes - beforeBytes)} more.`
  )
}

function rateRow(name: string, direct: number, tunnel: number): string[] {
  return [name, whole(rate(direct)), whole(rate(tunnel)), twoDecimals(direct / tunnel)]
}

function mib(bytes: number): string {
  return `${whole(bytes / 1024 ** 2)} MiB`
}
