// Runs the examples that it is given, one after the other in this process, each behind a line with its name: to start a
// process for each would take longer than most of them run.
import { pathToFileURL } from "node:url"

// They are not the examples' arguments.
for (const file of process.argv.splice(2)) {
  console.log(`=== ${file}`)
  try {
    await import(pathToFileURL(file).href)
  } catch (error) {
    console.log(error)
  }
}
console.log("=== end")
