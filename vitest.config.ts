import { defineConfig } from "vitest/config"

const shared = {
  exclude: ["**/node_modules/**", "**/dist/**"],
  // Tests hold unhandled rejections to be failures; nothing may float.
  dangerouslyIgnoreUnhandledErrors: false,
}

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
          include: ["packages/*/src/**/*.test.ts", "bench/**/*.test.ts", "docs/**/*.test.ts"],
          exclude: [...shared.exclude, "**/*.integration.test.ts"],
          testTimeout: 5_000,
          typecheck: { enabled: false },
        },
      },
      {
        resolve,
        ssr,
        test: {
          ...shared,
          name: "integration",
          include: ["**/*.integration.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
