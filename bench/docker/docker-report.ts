import { twoDecimals, whole } from "../format-number.ts"
import { formatTable } from "../format-table.ts"
import type { GvisorLatencies } from "./gvisor.ts"
import type { KillTimes } from "./kill.ts"
import type { Latencies } from "./latencies.ts"
import type { OutputBomb } from "./output-bomb.ts"
import { ROUNDS } from "./settings.ts"
import type { Throughput } from "./throughput.ts"

export function latencyReport(times: Latencies): string {
  const { hostFloorMs: host, execReusedMs: exec } = times
  const against = (ms: number): string => `${twoDecimals(ms / host)} of host, ${twoDecimals(exec / ms)}x exec`
  return formatTable(
    [`milliseconds, medians of ${ROUNDS} interleaved rounds`, "p50", "compared"],
    [
      row("host: python3 -c print(1)", host),
      row("pooled, fresh container, ready interpreter", times.pooledFreshMs, against(times.pooledFreshMs)),
      row("pooled, fresh container, new interpreter", times.pooledExecMs, against(times.pooledExecMs)),
      row("session", times.sessionMs, against(times.sessionMs)),
      row("exec in a reused container, as AutoGen", exec, against(exec)),
      row("engine alone, cold: to its exit", times.engineColdResultMs),
      row("cold: to the result", times.coldResultMs, ratio(times.coldResultMs, times.engineColdResultMs)),
      row("engine alone, cold: to its removal", times.engineColdMs),
      row("cold: to the removal", times.coldMs, `${ratio(times.coldMs, times.engineColdMs)} (goal 1.1)`),
      row("host: 19 imports", times.importsHostMs),
      row(
        "pooled: 19 imports",
        times.importsPooledMs,
        `${twoDecimals(times.importsPooledMs / times.importsHostMs)} of host (goal < 1)`,
      ),
    ],
  )
}

export function goalsReport({ pooledFreshMs, hostFloorMs, execReusedMs }: Latencies): string {
  return (
    `A pooled call takes ${twoDecimals(pooledFreshMs / hostFloorMs)} of the host's Python (goal: at most 0.5), ` +
    `and is ${twoDecimals(execReusedMs / pooledFreshMs)} times as fast as exec (goal: at least 8).`
  )
}

export function killReport({ killMs, goneMs }: KillTimes): string {
  return (
    `\nA spinner that ignores SIGTERM: the result is there ${twoDecimals(killMs)} ms after its deadline, ` +
    `and nothing is left on the engine after ${whole(goneMs)} ms.`
  )
}

export function throughputReport(throughput: Throughput): string {
  const { bestConcurrency, createStartRemovePerSecond } = throughput
  const table = formatTable(
    ["callers, each run in a fresh container", "runs/s"],
    [...throughput.runsPerSecond].map(([callers, rate]) => [String(callers), twoDecimals(rate)]),
  )
  return (
    `\n${table}\nThe engine alone creates, starts and removes ${twoDecimals(createStartRemovePerSecond)} such ` +
    `containers a second for ${bestConcurrency} callers; ours, in turns: ${twoDecimals(throughput.ratio)} of it (goal 0.8).`
  )
}

export function idleReport(bytes: number): string {
  return `\nAn idle pooled container holds ${whole(bytes)} bytes (its cgroup, without file pages that can be dropped).`
}

export function bombReport({ beforeBytes, peakBytes, ms }: OutputBomb): string {
  return (
    `\n1 GiB of output, of which 8 MiB are kept: ${whole(ms)} ms; this process has ${mib(beforeBytes)} resident ` +
    `before and ${mib(peakBytes)} at its peak.`
  )
}

export function gvisorReport(gvisor: GvisorLatencies | string): string {
  if (typeof gvisor === "string") return `\ngVisor is not measured: ${gvisor}.`
  const { gvisorPooledMs, hostFloorMs } = gvisor
  return `\nPooled under gVisor: ${twoDecimals(gvisorPooledMs)} ms, ${twoDecimals(gvisorPooledMs / hostFloorMs)} of the host's Python (goal 2).`
}

function row(name: string, ms: number, comparison = ""): string[] {
  return [name, twoDecimals(ms), comparison]
}

function ratio(ours: number, baseline: number): string {
  return `${twoDecimals(ours / baseline)} of the engine's`
}

function mib(bytes: number): string {
  return `${whole(bytes / 1024 ** 2)} MiB`
}
