import { afterAll, describe, expect, it } from "vitest"
import type { CodeResult, DisplayEvent, ExecutionEvent, RichOutput } from "../index.ts"
import { HAS_NO_DOCKER, cell, jupyter } from "./jupyter-subject.test-kit.ts"

function forms({ outputs = [] }: CodeResult): string[] {
  return outputs.map(({ display, type, artifact }) => `${display} ${type} ${artifact ?? "-"}`)
}

function textOf({ outputs = [] }: CodeResult, type: RichOutput["type"]): unknown {
  return outputs.find((output) => output.type === type)?.data
}

describe.skipIf(HAS_NO_DOCKER)("what a kernel shows", () => {
  const shared = jupyter({ timeout: "30s" })
  afterAll(async () => shared.stop())
  const run = async (code: string): Promise<CodeResult> =>
    cell(shared, `from IPython.display import *\n${code}`)
  const displays = async (code: string): Promise<DisplayEvent[]> => {
    const events: ExecutionEvent[] = []
    const block = { language: "python", code: `from IPython.display import *\n${code}` }
    for await (const event of shared.stream([block])) events.push(event)
    return events.filter((event) => event.type === "display")
  }

  it("a plot is a PNG, in the outputs and as a file", async () => {
    await using executor = jupyter()
    const result = await cell(
      executor,
      "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()\nprint('after')",
    )
    expect(result.stdout).toBe("<Figure size 640x480 with 1 Axes>\nafter\n")
    expect(result.stderr).toBe("")
    expect(forms(result)).toEqual(["1 text -", "1 png output-1.png"])
    const [artifact] = result.artifacts
    expect(artifact).toMatchObject({
      path: "output-1.png",
      executable: false,
      size: artifact?.content.length,
    })
    expect(Buffer.from(artifact!.content).toString("latin1", 1, 4)).toBe("PNG")
    expect(result.blocks[0]?.outputs).toEqual(result.outputs)
    // A plot that is left open at the end of its cell is shown too, under the next number.
    expect(forms(await cell(executor, "plt.plot([1, 2]);"))).toEqual(["1 text -", "1 png output-2.png"])
  })

  it("each kind has its type", async () => {
    const result = await run(`import base64, io
from PIL import Image as Picture
def image(kind):
    data = io.BytesIO(); Picture.new("RGB", (2, 2), "red").save(data, kind); return data.getvalue()
display(Image(image("JPEG"), format="jpeg"), Image(image("GIF"), format="gif"))
display(SVG("<svg xmlns='http://www.w3.org/2000/svg'><circle r='1'/></svg>"))
display(HTML("<b>bold</b>"), Latex("$x^2$"), Markdown("*m*"), JSON({"a": [1, None]}))
display({"application/x-strange": "raw"}, raw=True)
display({"application/vnd.vegalite.v5+json": {"mark": "bar"}}, raw=True)`)
    const rich = (result.outputs ?? []).filter(({ type }) => type !== "text")
    expect(rich.map(({ type, mime }) => `${type} ${mime}`)).toEqual([
      "jpeg image/jpeg",
      "gif image/gif",
      "svg image/svg+xml",
      "html text/html",
      "latex text/latex",
      "markdown text/markdown",
      "json application/json",
      "other application/x-strange",
      "json application/vnd.vegalite.v5+json",
    ])
    expect(textOf(result, "html")).toBe("<b>bold</b>")
    expect(textOf(result, "json")).toEqual({ a: [1, null] })
    expect(textOf(result, "svg")).toContain("<circle")
    const files = result.artifacts.map(({ path }) => path.replace(/^output-\d+/, "output"))
    expect(files).toEqual([
      "output.jpg",
      "output.gif",
      "output.svg.html",
      "output.html",
      "output.tex",
      "output.md",
      "output.json",
      "output.json",
    ])
  })

  it("a table is text in the output and HTML in a file in which no script runs", async () => {
    const result = await run("import pandas as pd\npd.DataFrame({'a': [1, 2]})")
    expect(result.stdout).toBe("   a\n0  1\n1  2\n")
    expect(textOf(result, "html")).toContain("<table")
    const page = Buffer.from(result.artifacts[0]!.content).toString()
    expect(page).toMatch(/<meta http-equiv="Content-Security-Policy" content="default-src 'none';/)
    expect(page).toMatch(/<body><iframe sandbox="" srcdoc="[^"<>]*&lt;div&gt;/)
  })

  it("text and what is shown come in their order", async () => {
    const result = await run(`import sys
print("a"); display(1); print("b", end=""); display("c"); print("d", file=sys.stderr); 2`)
    expect(result.output).toBe("a\n1\nb'c'\nd\n2\n")
    const events: string[] = []
    const code = "print('x')\ndisplay(HTML('y'))\nprint('z')"
    for await (const event of shared.stream([{ language: "python", code }])) events.push(event.type)
    expect(events).toEqual([
      "started",
      "block-started",
      "stdout",
      "display",
      "stdout",
      "block-finished",
      "artifact",
      "finished",
    ])
  })

  it("a display that changes streams, and ends as what it was last", async () => {
    const code = `import time
handle = display(HTML("0%"), display_id=True)
for part in (50, 100):
    time.sleep(0.05)
    handle.update(HTML(f"{part}%"))`
    const seen = (await displays(code)).map(({ action, outputs }) => [action, outputs.at(-1)?.data])
    expect(seen).toEqual([
      ["show", "0%"],
      ["update", "50%"],
      ["update", "100%"],
    ])
    const result = await run(code)
    expect(result.outputs?.filter(({ type }) => type === "html")).toMatchObject([
      { display: 1, data: "100%", displayId: expect.any(String) },
    ])
    // What another call showed is shown by the one that changes it.
    const later = await run("handle.update(HTML('done'))")
    expect(later.outputs).toMatchObject([{ type: "text" }, { type: "html", data: "done" }])
  })

  it("clear_output takes back what was shown, at once or with what comes next", async () => {
    const now = await run("display(HTML('old'))\nclear_output()\ndisplay(HTML('new'))")
    expect(now.outputs?.filter(({ type }) => type === "html").map(({ data }) => data)).toEqual(["new"])
    const events = await displays("display(HTML('1'))\nclear_output(wait=True)\ndisplay(HTML('2'))")
    expect(events.map(({ action }) => action)).toEqual(["show", "clear", "show"])
    const never = await run("display(HTML('stays'))\nclear_output(wait=True)")
    expect(textOf(never, "html")).toBe("stays")
  })

  it("help is printed, as there is no pager", async () => {
    expect((await run("len?")).stdout).toMatch(
      /Signature: len\(obj, \/\)\nDocstring: Return the number of items/,
    )
    expect((await run("def own():\n    return 'the source'\nown??")).stdout).toMatch(/return 'the source'/)
    expect((await run("%quickref")).stdout).toMatch(/Quick Reference Card/)
  })

  it("an update changes all that were shown under its id, whatever that is", async () => {
    for (const id of ["'q'", "5", "'x' * 300"]) {
      const { outputs, stderr } = await run(
        `display('A', display_id=${id})\ndisplay('B', display_id=${id})\nupdate_display('C', display_id=${id})`,
      )
      expect([outputs?.map(({ data }) => data), stderr]).toEqual([["'C'", "'C'"], ""])
    }
  })

  it("a bar drawn with carriage returns streams while the cell runs", async () => {
    const texts: string[] = []
    const code = `import sys, time
for step in range(3):
    sys.stderr.write(f"\\r{step}/3"); time.sleep(0.3)`
    await shared.executeCodeBlocks([{ language: "python", code }], {
      onOutput: ({ text }) => texts.push(text),
    })
    expect(texts).toEqual(["\r0/3", "\r1/3", "\r2/3"])
  })

  describe("too much of it, or nonsense", () => {
    it("is left out beyond the limits, with a note, and the cell ends as it would", async () => {
      await using executor = jupyter({ richOutput: { maxBytes: "100KiB", maxCount: 3 } })
      const show = async (code: string): Promise<CodeResult> =>
        cell(executor, `from IPython.display import *\n${code}`)
      const large = await show("display(HTML('x' * 200_000))\nprint('after')")
      expect(large).toMatchObject({ exitCode: 0, stdout: "after\n", outputs: [] })
      expect(large.stderr).toBe("[glovebox: left out an output of 196 KiB: richOutput.maxBytes is less]\n")
      const together = await show("for _ in range(3): display(HTML('x' * 40_000))")
      expect(together.outputs).toHaveLength(4)
      expect(together.stderr).toBe("[glovebox: left out an output: richOutput.maxBytes is reached]\n")
      const many = await show("for n in range(50): display(HTML(str(n)))")
      expect(many.outputs?.filter(({ type }) => type === "html").map(({ data }) => data)).toEqual([
        "0",
        "1",
        "2",
      ])
      expect(many.stderr).toBe("[glovebox: left out an output: richOutput.maxCount is reached]\n")
    })

    it("what is short and takes long to read is not read", async () => {
      const many = await run("display({'a/b%d' % n: 0 for n in range(300_000)}, raw=True)\nprint('after')")
      expect(many).toMatchObject({ exitCode: 0, stdout: "after\n", outputs: [] })
      expect(many.stderr).toMatch(/too many values\]\n$/)
    })

    it("JSON that is nested deep is no longer in its file than it came", async () => {
      const code = "deep = 1\nfor _ in range(60): deep = [deep]\ndisplay(JSON([deep] * 1000))"
      const { artifacts, exitCode } = await run(code)
      expect(exitCode).toBe(0)
      expect(artifacts[0]?.size).toBeLessThan(150_000)
    })

    it("text is printed whatever the limits of the rest", async () => {
      await using executor = jupyter({ richOutput: { maxBytes: 500, maxCount: 1 } })
      const long = await cell(executor, "'a' * 600")
      expect(long).toMatchObject({ stdout: `'${"a".repeat(600)}'\n`, stderr: "", outputs: [] })
      const beside = await cell(
        executor,
        "class A:\n    def __repr__(self): return 'short'\n    def _repr_html_(self): return 'x' * 10_000\nA()",
      )
      expect(beside.stdout).toBe("short\n")
      expect(beside.stderr).toMatch(/left out an output of 10 KiB/)
      const many = await cell(executor, "for n in range(3): display(n)\n'last'")
      expect(many).toMatchObject({ stdout: "0\n1\n2\n'last'\n", stderr: "" })
      expect(many.outputs).toHaveLength(1)
    })

    it("text of many megabytes is cut as any output", async () => {
      const { stdout, truncated, exitCode } = await run("'y' * 5_000_000")
      expect([exitCode, truncated]).toEqual([0, true])
      expect(stdout.length).toBeLessThan(1.1 * 1024 ** 2)
    })

    it("a flood of outputs ends with the cell, and the next call works", async () => {
      const { exitCode, outputs } = await run("for n in range(2_000): display(HTML('x'))")
      expect(exitCode).toBe(0)
      expect(outputs?.length).toBe(512)
      expect((await run("print('works')")).stdout).toBe("works\n")
    })

    it("hostile bundles are refused or kept as plain data", async () => {
      const send = `kernel = get_ipython().kernel
def send(kind, content):
    kernel.session.send(kernel.iopub_socket, kind, content, parent=kernel.get_parent())
`
      const result = await run(`${send}
deep = "end"
for _ in range(300): deep = [deep]
send("display_data", {"data": {"application/json": deep}})
send("display_data", {"data": {"image/png": "bm90IGEgcG5n", "text/html": 7, "../../etc/passwd": "x", "text/plain": "kept"}})
send("display_data", {"data": {"image/png": "!!!"}})
send("display_data", {"data": [1], "transient": {"display_id": 3}})
send("display_data", {"data": {f"x/y{n}": n for n in range(1000)}})
send("display_data", {"data": {"application/json": {"__proto__": {"polluted": True}, "constructor": 1}}})
send("update_display_data", {"data": {"text/html": "x"}})
send("clear_output", {"wait": "maybe"})
print("end")`)
      expect(result).toMatchObject({ exitCode: 0, stdout: "kept\nend\n" })
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
      const outputs = result.outputs ?? []
      expect(outputs.filter(({ type }) => type === "text")).toMatchObject([{ data: "kept" }])
      expect(outputs.filter(({ mime }) => mime.startsWith("x/y"))).toHaveLength(32)
      expect(outputs.filter(({ type }) => type === "png" || type === "html")).toEqual([])
      for (const line of [
        "an output that is no display_data, or is nested too deep, or has too many values",
        'a form of an output, "image/png": not such an image',
        'a form of an output, "text/html": not text',
        'a form of an output, "../../etc/passwd": no media type',
        'a form of an output, "image/png": not in base64',
        "a form of an output, one beyond the first 32",
        "an output: it names no display to change",
        "an output that is no clear_output, or is nested too deep, or has too many values",
      ]) {
        expect(result.stderr).toContain(`[glovebox: left out ${line}]\n`)
      }
    })
  })
})
