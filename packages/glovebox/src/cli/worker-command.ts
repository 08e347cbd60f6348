import { Command } from "commander"
import type { GrpcWorkerAgentRuntime, GrpcWorkerAgentRuntimeOptions } from "../runtimes/grpc/index.ts"
import { abortable } from "../internal/abortable.ts"
import { CommandFailure, EXIT_USAGE } from "./command-failure.ts"
import type { CommandOutput } from "./command-output.ts"
import { HealthServer } from "./distributed/health-server.ts"
import { loadAgentsModule } from "./distributed/load-agents-module.ts"
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
import { TOKEN_VARIABLE, readWorkerToken } from "./distributed/read-worker-token.ts"
import { Registered } from "./distributed/registered.ts"
import {
  type ExecutorFlags,
  openServedExecutor,
  refuseExecutorFlags,
  withExecutorOptions,
} from "./distributed/serve-executor.ts"
import { type Serving, serveUntilSignal } from "./distributed/serve-until-signal.ts"
import { ServerReport } from "./distributed/server-report.ts"
import { countWork } from "./distributed/worker-counts.ts"
import { notReady, workerMetrics } from "./distributed/worker-metrics.ts"

interface WorkerOptions extends ExecutorFlags {
  readonly host: string
  readonly tls?: true
  readonly tlsCa?: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly tlsServerName?: string
  readonly tokenFile?: string
  readonly allowPlaintext?: true
  readonly clientId?: string
  readonly health?: TcpAddress
  readonly maxMessage?: number
  readonly maxOutstanding?: number
  readonly connectTimeout?: number
  readonly drainTimeout: number
  readonly json?: true
}

/** `glovebox worker`: agents, or a sandbox, for all who are connected to a host. */
export function workerCommand(output: CommandOutput): Command {
  const command = new Command("worker")
    .description("Serve the agents of a module, or a sandbox of this machine, to all workers of a host.")
    .argument("[module]", "a file or a package that exports register(runtime)")
    .option("-H, --host <address>", "the host", aHostAddress, "127.0.0.1:50051")
    .option("--tls", "connect by TLS, to a certificate that Node trusts")
    .option("--tls-ca <file>", "the authority of the host's certificate, as PEM; implies --tls")
    .option("--tls-cert <file>", "the certificate that this worker shows, as PEM")
    .option("--tls-key <file>", "its key")
    .option("--tls-server-name <name>", "the name in the host's certificate, where it is another")
    .option("--token-file <file>", `has the token for the host (default: ${TOKEN_VARIABLE})`)
    .option("--allow-plaintext", "no encryption, also beyond this machine: for a network that you trust")
    .option("--client-id <name>", "unique among the workers of the host (default: a random one)")
    .option("--health <address>", "a port, or host:port, for /healthz, /readyz and /metrics", aTcpAddress)
    .option("--max-message <size>", "how large a message may be, up to 64MiB (4MiB)", aSize)
    .option("--max-outstanding <count>", "how many messages it has at a time (1000)", aCount)
    .option("--connect-timeout <time>", "how long the host may take to answer at the start (10s)", aTime)
    .addOption(drainTimeoutOption())
    .option("--json", "print JSON: a line for everything that happens")
    .option(
      "--executor [type]",
      "run code for others, as agents of this type (executor); the options below are for it",
    )
  return withExecutorOptions(command)
    .addHelpText(
      "after",
      `
SIGTERM and Ctrl-C let what runs end, up to --drain-timeout, while the host gives new work to
others; a second one does not. Needs the packages @grpc/grpc-js and protobufjs.`,
    )
    .action(async (module: string | undefined, options: WorkerOptions) => {
      checkWork(module, options)
      const report = new ServerReport(output, options.json === true)
      await serveUntilSignal(async (serving) => serveWorker(module, options, { output, report, serving }), {
        drainTimeoutMs: options.drainTimeout,
        output,
        report,
      })
    })
}

interface WorkerAt {
  readonly output: CommandOutput
  readonly report: ServerReport
  readonly serving: Serving
}

async function serveWorker(
  module: string | undefined,
  options: WorkerOptions,
  { output, report, serving }: WorkerAt,
): Promise<void> {
  const { signal, untilDrained } = serving
  const { logger } = report
  const settings = { ...(await settingsOf(options)), logger }
  if (!settings.tls && !options.allowPlaintext) refusePlainAddress(options.host, "--tls or --tls-ca")
  const register = module === undefined ? undefined : await loadAgentsModule(module, process.cwd())
  const { GrpcWorkerAgentRuntime } = await loadGrpc("glovebox worker")
  await using runtime = new GrpcWorkerAgentRuntime(settings)
  await using registered = new Registered(await register?.(runtime))
  await using served =
    options.executor === undefined
      ? undefined
      : await openServedExecutor(runtime, options, { output, logger, signal })
  await using health = options.health && (await watchWorker(runtime, options.health, signal))
  await abortable(runtime.start(), signal)
  report.say("connected", `connected to ${options.host}${health ? `; health at ${health.url}` : ""}`, {
    host: options.host,
    health: health?.url,
  })
  await untilDrained(async () => {
    // First, because code that runs is read by new messages, which a worker that drains does not get.
    await Promise.all([served?.drain(), registered.drain()])
    await runtime.drain()
    await served?.close()
  })
}

function checkWork(module: string | undefined, options: WorkerOptions): void {
  refuseExecutorFlags(options)
  if (module !== undefined || options.executor !== undefined) return
  throw new CommandFailure("Name a module with agents, or say --executor.", { exitCode: EXIT_USAGE })
}

async function settingsOf(options: WorkerOptions): Promise<GrpcWorkerAgentRuntimeOptions> {
  return {
    hostAddress: options.host,
    tls: tlsOf(options),
    token: await readWorkerToken(options.tokenFile),
    allowPlaintext: options.allowPlaintext,
    clientId: options.clientId,
    maxMessageBytes: options.maxMessage,
    maxOutstanding: options.maxOutstanding,
    connectTimeoutMs: options.connectTimeout,
  }
}

function tlsOf({
  tls,
  tlsCa,
  tlsCert,
  tlsKey,
  tlsServerName,
}: WorkerOptions): GrpcWorkerAgentRuntimeOptions["tls"] {
  const named = { ca: tlsCa, cert: tlsCert, key: tlsKey, serverName: tlsServerName }
  return Object.values(named).some((value) => value !== undefined) ? named : tls
}

async function watchWorker(
  runtime: GrpcWorkerAgentRuntime,
  at: TcpAddress,
  signal: AbortSignal,
): Promise<HealthServer> {
  const counts = countWork(runtime)
  return HealthServer.start(at, {
    notReady: () => notReady(runtime.status(), signal.aborted),
    metrics: () => workerMetrics(runtime.status(), counts),
  })
}
