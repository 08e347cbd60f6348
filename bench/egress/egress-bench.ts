import { cpus } from "node:os"
import type { JsonObject } from "glovebox/core"
import { EngineBed } from "../docker/engine-bed.ts"
import { cleanUpWhenInterrupted } from "../docker/interrupt.ts"
import { findHostPython } from "../host-python.ts"
import { type Contender, interleave } from "../interleave.ts"
import { measureConcurrentDownloads } from "./concurrent-downloads.ts"
import { type Contestant, direct, tunnelExecutor, tunnelled } from "./contestants.ts"
import { type TransferName, type Transfers, concurrentReport, rate, transferReport } from "./egress-report.ts"
import { LoadServer } from "./load-server.ts"
import { download, smallRequest, upload } from "./programs.ts"
import { DOWNLOADS, DOWNLOAD_BYTES, REQUESTS, ROUNDS, TRANSFER_BYTES } from "./settings.ts"

/** What the way out of a sandbox costs, against the same program on the host without one. */
export async function egressBench(print: (line: string) => void): Promise<JsonObject> {
  await using bed = await EngineBed.connect()
  using _interrupts = cleanUpWhenInterrupted(bed)
  const python = await findHostPython()
  await using server = await LoadServer.start()
  await using executor = tunnelExecutor(bed, server.port)
  await executor.start()
  print(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown CPU"}.`)
  print(`Engine ${bed.info.version}, ${bed.runtime}; the host's Python is ${python}.\n`)
  const tunnel = tunnelled(executor, server.port)

  const times = await measureTransfers(direct(python, server.port), tunnel)
  print(transferReport(times))
  const concurrent = await measureConcurrentDownloads(tunnel)
  print(concurrentReport(concurrent))

  return {
    directDownloadMBps: rounded(rate(times.directDownload)),
    downloadMBps: rounded(rate(times.tunnelDownload)),
    downloadRatio: rounded(times.directDownload / times.tunnelDownload),
    directUploadMBps: rounded(rate(times.directUpload)),
    uploadMBps: rounded(rate(times.tunnelUpload)),
    uploadRatio: rounded(times.directUpload / times.tunnelUpload),
    directRequestMs: rounded(times.directRequest * 1000),
    requestMs: rounded(times.tunnelRequest * 1000),
    requestRatio: rounded(times.tunnelRequest / times.directRequest),
    concurrentDownloads: DOWNLOADS,
    concurrentSeconds: rounded(concurrent.seconds),
    concurrentMBps: rounded(rate(concurrent.seconds, DOWNLOADS * DOWNLOAD_BYTES)),
    memoryBeforeBytes: concurrent.beforeBytes,
    memoryPeakBytes: concurrent.peakBytes,
    memoryGrowthBytes: concurrent.peakBytes - concurrent.beforeBytes,
  }
}

async function measureTransfers(host: Contestant, tunnel: Contestant): Promise<Transfers> {
  return interleave(
    [
      contender("directDownload", host, download, TRANSFER_BYTES),
      contender("tunnelDownload", tunnel, download, TRANSFER_BYTES),
      contender("directUpload", host, upload, TRANSFER_BYTES),
      contender("tunnelUpload", tunnel, upload, TRANSFER_BYTES),
      contender("directRequest", host, smallRequest, REQUESTS),
      contender("tunnelRequest", tunnel, smallRequest, REQUESTS),
    ],
    ROUNDS,
  )
}

function contender(
  name: TransferName,
  contestant: Contestant,
  program: (origin: string, amount: number) => string,
  amount: number,
): Contender<TransferName> {
  return {
    sample: async () => ({ [name]: await contestant.seconds(program(contestant.origin, amount)) }),
  }
}

function rounded(value: number): number {
  return Number(value.toFixed(2))
}
