import { defineConfig } from "vitest/config"

const shared = {
  exclude: ["**/node_modules/**", "**/dist/**"],
}

// Tests that make nothing an engine's others could see: they run beside those that do, which wait for it half of the time.
const processes = [
  ...["bubblewrap", "local", "wasm"].map((tier) => `packages/glovebox/src/executors/${tier}`),
  "packages/glovebox/agents",
  "packages/glovebox/test",
  "bench",
].map((folder) => `${folder}/**/*.integration.test.ts`)
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
          include: ["packages/*/src/**/*.test.ts"],
          exclude: [...shared.exclude, "**/*.integration.test.ts"],
          testTimeout: 5_000,
          // Module state is not shared between tests by design, so files may share a worker: it halves the time.
          isolate: false,
        },
      },
      {
        resolve,
        ssr,
        test: {
          ...shared,
          name: "integration",
          include: ["**/*.integration.test.ts"],
          exclude: [...shared.exclude, ...processes],
          ...serial,
        },
      },
      { resolve, ssr, test: { ...shared, name: "processes", include: processes, ...serial } },
    ],
  },
})
