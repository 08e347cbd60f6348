// File handling: a first line names the code's file, and files persist between executions.
//   npx tsx examples/user-documents/code-executors/file-handling.ts
import { DockerCommandLineCodeExecutor } from "glovebox/executors/docker"

await using executor = new DockerCommandLineCodeExecutor({
  image: process.env["GLOVEBOX_SANDBOX_IMAGE"] || "python:3-slim",
})

const processor = `# filename: data_processor.py
def process_data(items):
    return [item.upper() for item in items]

if __name__ == '__main__':
    data = ['hello', 'world']
    print(process_data(data))
`
const first = await executor.executeCodeBlocks([{ language: "python", code: processor }])
console.log(first.codeFile, first.output.trim())

// Another call, and another container: the file is there.
const code = "from data_processor import process_data\nprint(process_data(['again']))"
const second = await executor.executeCodeBlocks([{ language: "python", code }])
console.log(second.output.trim())

/* Prints:
data_processor.py ['HELLO', 'WORLD']
['AGAIN']
*/
