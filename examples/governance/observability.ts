// What OpenTelemetry gets of a governed agent's work; here it stays in memory, and is printed.
//   npx tsx examples/governance/observability.ts
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { WasmCodeExecutor } from "glovebox/executors/wasm"
import { Governance } from "glovebox/governance"
import { ReplayChatCompletionClient } from "glovebox/models/replay"

const exporter = new InMemorySpanExporter()
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
// A program that installs an SDK leaves this out: the global providers are used.
await using governance = new Governance({ audit: false, telemetry: { tracerProvider } })

const coder = governance.agent("coder")
await using modelClient = coder.client(new ReplayChatCompletionClient(["print(6 * 7)"]))
await using executor = coder.executor(new WasmCodeExecutor())

const { content: code } = await modelClient.create([
  { type: "UserMessage", source: "user", content: "What is six times seven?" },
])
if (typeof code === "string") await executor.executeCodeBlocks([{ language: "python", code }])
await executor.executeCodeBlocks([{ language: "python", code: "exit(3)" }])

const shown = [
  "gen_ai.agent.name",
  "gen_ai.response.finish_reasons",
  "glovebox.approval.decision",
  "glovebox.code.languages",
  "glovebox.code.termination",
  "process.exit.code",
  "error.type",
]
for (const { name, attributes } of exporter.getFinishedSpans()) {
  console.log(name)
  for (const key of shown) if (key in attributes) console.log(`  ${key}: ${String(attributes[key])}`)
}

/* Prints:
chat replay
  gen_ai.agent.name: coder
  gen_ai.response.finish_reasons: stop
approval code
  gen_ai.agent.name: coder
  glovebox.approval.decision: approved
run_code wasm
  gen_ai.agent.name: coder
  glovebox.code.languages: python
  glovebox.code.termination: exit
  process.exit.code: 0
approval code
  gen_ai.agent.name: coder
  glovebox.approval.decision: approved
run_code wasm
  gen_ai.agent.name: coder
  glovebox.code.languages: python
  glovebox.code.termination: exit
  process.exit.code: 3
  error.type: exit_code
*/
