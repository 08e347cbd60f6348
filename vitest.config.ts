import { defineConfig } from "vitest/config"

const shared = {
  exclude: ["**/node_modules/**", "**/dist/**"],
}

const integration = (paths: readonly string[]): string[] => paths.map((path) => `${path}.integration.test.ts`)
const executors = "packages/glovebox/src/executors"

// Tests that make nothing an engine's others could see: they run beside those that do, which wait for it half of the time.
const processes = integration([
  ...["bubblewrap", "local", "wasm"].map((tier) => `${executors}/${tier}/**/*`),
  `${executors}/remote/{grpc-conformance,lost-worker}`,
  "packages/glovebox/src/{models,tools,memory,governance,runtimes}/**/*",
  "packages/glovebox/src/chat/{agents/terminal-input,agents/assistant/assistant-process,teams/suspended-process}",
  "packages/glovebox/src/verify/{wasm,bubblewrap}",
  "packages/glovebox/agents/**/*",
])
// The same, of the command, the package and the examples: much of their time is programs that start.
const commands = integration([
  "packages/glovebox/src/cli/{audit-command,exec-governance,guard-process,host-command,mcp-command,mcp-governance,run-command,run-governance,run-hostile,chat-command,worker-command}",
  "packages/glovebox/test/**/*",
  "examples/docs/**/*",
  "examples/{embedded,with-a-key}",
  "bench/**/*",
])
// Tests that no other executor may start beside, because each start clears away what dead processes left.
const exclusive = integration([
  "scripts/*",
  `${executors}/docker/{owners,engines}`,
  "packages/glovebox/src/verify/engine-restart",
  "packages/glovebox/src/cli/gc-command",
])
// Long tests that look at nothing but their own containers.
const suites = integration([`${executors}/docker/conformance`])
const serial = { testTimeout: 120_000, hookTimeout: 120_000, fileParallelism: false }

const resolve = { conditions: ["@glovebox/source"] }
const ssr = { resolve: { conditions: ["@glovebox/source"] } }

export default defineConfig({
  resolve,
  ssr,
  test: {
    projects: [
      {
        resolve,
        ssr,
        test: {
          ...shared,
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", "examples/**/*.test.ts"],
          exclude: [...shared.exclude, "**/*.integration.test.ts"],
          testTimeout: 20_000,
          // Module state is not shared between tests by design, so files may share a worker: it halves the time.
          isolate: false,
          // By default one processor of two is left idle; threads share what was compiled.
          maxWorkers: "100%",
          pool: "threads",
        },
      },
      {
        resolve,
        ssr,
        test: {
          ...shared,
          name: "integration",
          include: ["**/*.integration.test.ts"],
          exclude: [...shared.exclude, ...processes, ...commands, ...exclusive, ...suites],
          ...serial,
        },
      },
      ...Object.entries({ processes, commands, exclusive, suites }).map(([name, include]) => ({
        resolve,
        ssr,
        test: { ...shared, name, include, ...serial },
      })),
    ],
  },
})
