import { defineConfig } from "vitest/config"

const conditions = ["@glovebox/source"]

/** Apart from the other tests, because these need AutoGen: `npm run test:interop` installs it and runs them. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    root: import.meta.dirname,
    include: ["**/*.test.ts"],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // Module state is not shared between tests, and most of the time is programs that start.
    isolate: false,
    maxWorkers: "100%",
    pool: "threads",
  },
})
