import { Command } from "commander"
import type { GrpcWorkerAgentRuntimeHost, GrpcWorkerAgentRuntimeHostOptions } from "../runtimes/grpc/index.ts"
import { CommandFailure, EXIT_USAGE } from "./command-failure.ts"
import type { CommandOutput } from "./command-output.ts"
import { HealthServer } from "./distributed/health-server.ts"
import { hostMetrics } from "./distributed/host-metrics.ts"
import { refusePlainAddress } from "./distributed/refuse-plain-address.ts"
import { loadGrpc } from "./distributed/load-grpc.ts"
import {
  type TcpAddress,
  aCount,
  aHostAddress,
  aSize,
  aTcpAddress,
  aTime,
  drainTimeoutOption,
} from "./distributed/option-values.ts"
import { readTokens } from "./distributed/read-tokens.ts"
import { type Serving, serveUntilSignal } from "./distributed/serve-until-signal.ts"
import { ServerReport } from "./distributed/server-report.ts"

interface HostOptions {
  readonly listen: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly clientCa?: string
  readonly tokens?: string
  readonly allowPlaintext?: true
  readonly health?: TcpAddress
  readonly grace?: number
  readonly heartbeat?: number
  readonly requestTimeout?: number
  readonly maxMessage?: number
  readonly maxQueued?: number
  readonly drainTimeout: number
  readonly json?: true
}

/** `glovebox host`: where workers meet. */
export function hostCommand(output: CommandOutput): Command {
  return new Command("host")
    .description("Pass messages between workers: each registers agents, and can reach those of all others.")
    .option(
      "-l, --listen <address>",
      "where workers connect; port 0 for any",
      aHostAddress,
      "127.0.0.1:50051",
    )
    .option("--tls-cert <file>", "the certificate of this host, as PEM")
    .option("--tls-key <file>", "its key")
    .option("--client-ca <file>", "let in only workers with a certificate of this authority")
    .option("--tokens <file>", "who may connect, and what each may do (default: anyone may do anything)")
    .option("--allow-plaintext", "no encryption, also beyond this machine: for a network that you trust")
    .option("--health <address>", "a port, or host:port, for /healthz, /readyz and /metrics", aTcpAddress)
    .option("--grace <time>", "how long a worker that lost its connection keeps its place (5s)", aTime)
    .option("--heartbeat <time>", "how often workers are asked whether they live (1s)", aTime)
    .option("--request-timeout <time>", "for requests that bring no deadline of their own (10m)", aTime)
    .option("--max-message <size>", "how large a message may be, up to 64MiB (4MiB)", aSize)
    .option("--max-queued <count>", "how many messages may wait for one worker (10000)", aCount)
    .addOption(drainTimeoutOption())
    .option("--json", "print JSON: a line for everything that happens")
    .addHelpText(
      "after",
      `
SIGTERM and Ctrl-C let pending requests end, up to --drain-timeout; a second one does not.
Needs the packages @grpc/grpc-js and protobufjs.`,
    )
    .action(async (options: HostOptions) => {
      const report = new ServerReport(output, options.json === true)
      await serveUntilSignal(async (serving) => serveHost(options, report, serving), {
        drainTimeoutMs: options.drainTimeout,
        output,
        report,
      })
    })
}

async function serveHost(options: HostOptions, report: ServerReport, serving: Serving): Promise<void> {
  const { signal, untilDrained } = serving
  const settings = await settingsOf(options, report, signal)
  if (!settings.tls && !options.allowPlaintext) refusePlainAddress(options.listen, "--tls-cert and --tls-key")
  const { GrpcWorkerAgentRuntimeHost } = await loadGrpc("glovebox host")
  await using host = new GrpcWorkerAgentRuntimeHost(settings)
  await host.start()
  await using health = options.health && (await watchHost(host, options.health, signal))
  const { address } = host
  report.say("listening", `listening at ${address}${health ? `; health at ${health.url}` : ""}`, {
    address,
    health: health?.url,
  })
  await untilDrained(async () => host.stop({ graceMs: options.drainTimeout }))
}

async function settingsOf(
  options: HostOptions,
  report: ServerReport,
  signal: AbortSignal,
): Promise<GrpcWorkerAgentRuntimeHostOptions> {
  return {
    address: options.listen,
    tls: tlsOf(options),
    tokens: options.tokens === undefined ? undefined : await readTokens(options.tokens, signal),
    allowPlaintext: options.allowPlaintext,
    graceMs: options.grace,
    heartbeatMs: options.heartbeat,
    requestTimeoutMs: options.requestTimeout,
    maxMessageBytes: options.maxMessage,
    maxQueued: options.maxQueued,
    logger: report.logger,
  }
}

function tlsOf({ tlsCert, tlsKey, clientCa }: HostOptions): GrpcWorkerAgentRuntimeHostOptions["tls"] {
  if (tlsCert !== undefined && tlsKey !== undefined) return { cert: tlsCert, key: tlsKey, clientCa }
  if (tlsCert === undefined && tlsKey === undefined && clientCa === undefined) return undefined
  throw new CommandFailure("--tls-cert and --tls-key go together, and --client-ca needs both.", {
    exitCode: EXIT_USAGE,
  })
}

async function watchHost(
  host: GrpcWorkerAgentRuntimeHost,
  at: TcpAddress,
  signal: AbortSignal,
): Promise<HealthServer> {
  return HealthServer.start(at, {
    notReady: () => (signal.aborted ? "draining" : undefined),
    metrics: () => hostMetrics(host.status(), host.metrics()),
  })
}
