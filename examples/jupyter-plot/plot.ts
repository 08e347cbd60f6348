// Makes a plot in a Jupyter kernel, in two calls that share their variables, and writes the picture:
//   npx tsx examples/jupyter-plot/plot.ts [file]
import { writeFile } from "node:fs/promises"
import { DockerJupyterCodeExecutor } from "glovebox/executors/jupyter"

const file = process.argv[2] ?? "plot.png"
await using executor = new DockerJupyterCodeExecutor({ timeout: "60s" })

await executor.executeCodeBlocks([
  {
    language: "python",
    code: `import numpy as np
x = np.linspace(0, 4 * np.pi, 400)
waves = {"sin(x)": np.sin(x), "sin(x) / x": np.sinc(x / np.pi)}`,
  },
])

const result = await executor.executeCodeBlocks([
  {
    language: "python",
    code: `import matplotlib.pyplot as plt
for name, y in waves.items():
    plt.plot(x, y, label=name)
plt.title("Two waves, drawn in the sandbox")
plt.xlabel("x"); plt.legend(); plt.grid(True)
plt.show()
print(f"drew {len(waves)} lines of {len(x)} points")`,
  },
])

if (result.exitCode !== 0) throw new Error(result.output)
const plot = result.outputs?.find((output) => output.type === "png")
if (plot?.type !== "png") throw new Error("The code showed no picture.")
await writeFile(file, plot.data)
console.log(result.stdout.trim().split("\n").at(-1))
console.log(`wrote ${file}`)
