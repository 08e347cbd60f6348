import { existsSync, readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { allExamples, root } from "../examples.test-kit.ts"

interface Snippet {
  readonly page: string
  /** The example that it is from. */
  readonly source: string | undefined
  readonly code: string
}

const pages = ["../README.md", ...readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"))]
const snippets = pages.flatMap((page): Snippet[] => {
  const text = readFileSync(join(root, "docs", page), "utf8")
  return [...text.matchAll(/(?:<!-- from (\S+) -->\s+)?```(?:ts|python)\n([^]*?)```/g)].map(
    ([, source, code = ""]) => ({
      page,
      source,
      code,
    }),
  )
})
const taken = snippets.filter(({ source }) => source !== undefined)

/** The parts of a snippet that stand together in its example; a line `// ...` is between them. */
function partsOf({ code }: Snippet): readonly string[] {
  return code.split(/^\/\/ \.\.\.\n/m).map((part) => part.trim())
}

describe("code in docs/", () => {
  it.each(taken)("$page has what is in $source", (snippet) => {
    const path = join(root, snippet.source ?? "")
    const example = existsSync(path) ? readFileSync(path, "utf8") : ""
    for (const part of partsOf(snippet)) expect(example).toContain(part)
  })

  // Pages about the layers below run their own code, or show pieces of it.
  it.each(["quick-start.md", "agents.md", "teams.md", "messages.md", "distributed.md"])(
    "%s has nothing else",
    (page) => {
      const own = snippets.filter((snippet) => snippet.page === page)
      expect(own.length).toBeGreaterThan(0)
      expect(own.filter(({ source }) => source === undefined)).toEqual([])
    },
  )

  it.each([...pages, "../examples/README.md"])("%s links to what is there", (page) => {
    const path = join(root, "docs", page)
    const text = readFileSync(path, "utf8").replaceAll(/```[^]*?```/g, "")
    const links = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = ""]) => link)
    const missing = links.filter((link) => {
      const [file = "", anchor] = link.split("#")
      const target = file === "" ? path : join(path, "..", file)
      return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor))
    })
    expect(missing).toEqual([])
  })

  it("names every example in their index", () => {
    const index = readFileSync(join(root, "examples", "README.md"), "utf8")
    const links = allExamples().map(({ path }) => `](${path.replace(/^examples\//, "")})`)
    expect(links.filter((link) => !index.includes(link))).toEqual([])
  })
})

/** The anchors of a page's headings, as they are made of them. */
function anchorsOf(page: string): readonly string[] {
  const headings = [...readFileSync(page, "utf8").matchAll(/^#+ (.+)$/gm)]
  return headings.map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  )
}
