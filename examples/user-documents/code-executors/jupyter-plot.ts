// Docker Jupyter executor: variables stay from call to call, and a plot is saved. `outputs` has plots that are shown:
// examples/jupyter-plot/plot.ts
//   npx tsx examples/user-documents/code-executors/jupyter-plot.ts
import { DockerJupyterCodeExecutor } from "glovebox/executors/jupyter"

await using executor = new DockerJupyterCodeExecutor({ timeout: "120s" })

await executor.executeCodeBlocks([
  { language: "python", code: "import numpy as np\nx = np.linspace(0, 2 * np.pi, 100)\ny = np.sin(x)" },
])
const result = await executor.executeCodeBlocks([
  {
    language: "python",
    code: `import matplotlib.pyplot as plt
plt.plot(x, y)
plt.title('Sine Wave')
plt.savefig('sine.png')
plt.close()
print('Plot saved!')`,
  },
])
process.stdout.write(result.output)
const plot = result.artifacts.find(({ path }) => path === "sine.png")
console.log(`${plot?.path} begins with ${Buffer.from(plot?.content ?? []).toString("latin1", 1, 4)}`)

/* Prints:
Plot saved!
sine.png begins with PNG
*/
