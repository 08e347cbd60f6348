import { readFileSync } from "node:fs"
import { z } from "zod"

/** The part of vitest's JSON report that counts. */
const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
})

const suites = process.argv
  .slice(2)
  .flatMap((file) => reportSchema.parse(JSON.parse(readFileSync(file, "utf8"))).testResults)
const tests = suites.flatMap((suite) => suite.assertionResults.map((test) => ({ ...test, file: suite.name })))
const passed = tests.filter(({ status }) => status === "passed")
const failed = tests.filter(({ status }) => status === "failed")
const skipped = tests.filter(({ status }) => status !== "passed" && status !== "failed")
// A file that cannot even be loaded has no tests to fail.
const broken = suites.filter(
  ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
)

for (const { fullName } of skipped) console.log(`NOT RUN: ${fullName}`)
for (const { name } of broken) console.log(`NOT LOADED: ${name}`)
console.log(`${passed.length} passed, ${failed.length + broken.length} failed, ${skipped.length} skipped`)

const isCi = process.env["CI"] === "true"
if (isCi && skipped.length > 0) console.log("CI runs every test: a skipped one is a failure.")
if (failed.length + broken.length > 0 || passed.length === 0 || (isCi && skipped.length > 0))
  process.exitCode = 1
