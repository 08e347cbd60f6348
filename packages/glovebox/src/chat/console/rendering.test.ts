import { describe, expect, it } from "vitest"
import { z } from "zod"
import {
  type ChatItem,
  CodeExecutionEvent,
  CodeGenerationEvent,
  CodeOutputEvent,
  HandoffMessage,
  ModelClientStreamingChunkEvent,
  MultiModalMessage,
  SelectSpeakerEvent,
  StructuredMessage,
  TextMessage,
  ThoughtEvent,
  ToolCallExecutionEvent,
  ToolCallRequestEvent,
  ToolOutputEvent,
  UserInputRequestedEvent,
  defineChatMessage,
} from "../messages/index.ts"
import { codeRun, lines, piped, say, seen, written } from "./console.test-kit.ts"

const source = "writer"
const chunk = (content: string, from = source): ChatItem =>
  ModelClientStreamingChunkEvent({ content, source: from })
const print = (content: string, stream: "stdout" | "stderr" = "stdout", from = "runner"): ChatItem =>
  CodeOutputEvent({ content, stream, block: 0, source: from })
const run = CodeExecutionEvent({
  source: "runner",
  result: codeRun({
    exitCode: 1,
    output: "1\nboom\n",
    artifacts: [{ path: "chart.png", size: 12_345, sha256: "" }],
    denials: [{ resource: "x:443", message: "x:443 is not allowed.", suggestion: "Allow it." }],
  }),
})

describe("a conversation at a terminal", () => {
  it("has a heading for each who speaks, and what they do", async () => {
    const items = [
      say("Hello **all**", "user"),
      SelectSpeakerEvent({ content: ["writer", "critic"], source: "manager" }),
      ThoughtEvent({ content: "so\nthen", source }),
      say("`Hi`"),
      say("again"),
      HandoffMessage({ content: "yours", target: "critic", source }),
    ]
    expect(await seen(...items)).toBe(
      lines(
        ["", " user  says", "Hello all"],
        ["", "→ writer, critic"],
        ["", " writer  thinks", "  so", "  then"],
        ["", " writer  says", "Hi"],
        ["", " writer  says", "again"],
        ["", " writer  hands over", "yours", "→ critic"],
      ),
    )
  })

  it("draws names in a way that no message can", async () => {
    const text = await written([say("**`x`**")], { colors: true })
    expect(text).toBe(
      "\n\u001B[7m\u001B[1m\u001B[36m writer \u001B[39m\u001B[22m\u001B[27m \u001B[2msays\u001B[22m\n" +
        "\u001B[1m\u001B[36mx\u001B[39m\u001B[22m\n",
    )
  })

  it("has what is streamed once", async () => {
    const items = [chunk("Hello **wo"), chunk("rld**"), ThoughtEvent({ content: "hm", source })]
    expect(await seen(...items, say("Hello **world**"), chunk("Bye"), say("Bye"))).toBe(
      lines(
        ["", " writer  says", "Hello world", "", " writer  thinks", "  hm"],
        ["", " writer  says", "Bye"],
      ),
    )
  })

  it("has the message after pieces that were something else", async () => {
    expect(await seen(chunk("Hello"), say("Hello there"))).toBe(
      lines("", " writer  says", "Hello", "", " writer  says", "Hello there"),
    )
  })

  it("has two that are streamed at once one after the other", async () => {
    const items = [chunk("one "), chunk("A "), chunk("two", "critic"), chunk("B")]
    const other = [print("3\n"), say("one A B"), chunk(" three", "critic"), say("two three", "critic")]
    expect(await seen(...items, ...other)).toBe(
      lines(
        ["", " writer  says", "one A B"],
        ["", " critic  says", "two three"],
        ["", " runner  runs code", "  │ 3"],
      ),
    )
  })

  it("has tool calls and results in short", async () => {
    const long = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`).join("\n")
    const calls = [
      { id: "1", name: "search", arguments: `{\n "q": "${"x".repeat(300)}" }` },
      { id: "2", name: "now", arguments: "{}" },
    ]
    const results = [
      { callId: "1", name: "search", content: long },
      { callId: "2", name: "now", content: "no clock", isError: true },
    ]
    const text = await seen(
      ToolCallRequestEvent({ content: calls, source }),
      ToolOutputEvent({ content: "looking", callId: "1", name: "search", source }),
      ToolCallExecutionEvent({ content: results, source }),
    )
    expect(text).toBe(
      lines(
        ["", " writer  uses tools"],
        `  → search({ "q": "${"x".repeat(192)} … 111 more characters)`,
        ["  → now({})", "  │ looking", "  ← search: line 1"],
        [2, 3, 4, 5, 6, 7, 8].map((number) => `    line ${number}`),
        ["    … 4 more lines", "  ✗ now failed: no clock"],
      ),
    )
  })

  it("has code, what it prints while it runs, what it was denied, its files and its end", async () => {
    const codeBlocks = [{ language: "python", code: "print(1)\nboom()" }]
    const generated = CodeGenerationEvent({ content: "", codeBlocks, retryAttempt: 1, source })
    const output = [print("1"), print("boom\n", "stderr")]
    const answer = say("1\nboom\n\nIt ended with exit code 1.", "runner")
    expect(await seen(generated, ...output, run, answer)).toBe(
      lines(
        ["", " writer  writes code, attempt 2", "    ┌ python", "  1 │ print(1)", "  2 │ boom()", "    └"],
        ["", " runner  runs code", "  │ 1", "  ┃ boom"],
        ["  ⊘ DENIED x:443 is not allowed. Allow it.", "  + chart.png (12.1 KiB)"],
        ["  ✗ exit 1 after 88 ms in docker", "  It ended with exit code 1."],
      ),
    )
  })

  it("has the output of code that was not told live, and why it was ended", async () => {
    const result = codeRun({ output: "tick\n", exitCode: 124, termination: "timeout", truncated: true })
    expect(await seen(CodeExecutionEvent({ result, source }))).toBe(
      lines(
        ["", " writer  runs code", "  │ tick", "  the middle of the output was left out"],
        "  ✗ out of time (exit 124) after 88 ms in docker",
      ),
    )
  })

  it("marks code that was not approved as denied, however it is told", async () => {
    const content = "The code was not approved."
    const denied = TextMessage({ content, source, metadata: { approval: "denied" } })
    const expected = lines("", " writer  says", "  ⊘ DENIED The code was not approved.")
    expect(await seen(denied)).toBe(expected)
    expect(await seen(chunk(content), denied)).toContain("⊘ DENIED The code was not approved.")
  })

  it("has structured answers, images by their kind, and messages of one's own", async () => {
    const Order = defineChatMessage("Order", { item: z.string() }, { toText: ({ item }) => `Bring ${item}.` })
    const image = { type: "Image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const
    const own: unknown = Order({ item: "tea", source })
    const text = await seen(
      StructuredMessage({ content: { n: 1 }, formatString: "n is {n}", source }),
      MultiModalMessage({ content: ["Look:", image], source }),
      own as ChatItem,
    )
    expect(text).toBe(
      lines(
        ["", " writer  says", "n is 1", "", " writer  says", "Look:", "[image: image/png]"],
        ["", " writer  Order", "Bring tea."],
      ),
    )
  })
})

describe("a conversation for programs", () => {
  it("has a line with name and type for each, and what they say behind two spaces", async () => {
    const items = [
      say("Hello\n\n**all**\nuser (TextMessage)", "user"),
      SelectSpeakerEvent({ content: ["writer"], source: "manager" }),
      UserInputRequestedEvent({ requestId: "1", source: "user" }),
      chunk("H"),
      chunk("i"),
      say("Hi"),
      HandoffMessage({ content: "yours", target: "critic", source }),
    ]
    expect(await piped(...items)).toBe(
      lines(
        ["user (TextMessage)", "  Hello", "  ", "  **all**", "  user (TextMessage)"],
        ["manager (SelectSpeakerEvent)", "  -> writer"],
        ["writer (TextMessage)", "  Hi"],
        ["writer (HandoffMessage)", "  yours", "  -> critic"],
      ),
    )
  })

  it("marks output, calls, denials, files and the end", async () => {
    const items = [
      ToolCallRequestEvent({ content: [{ id: "1", name: "now", arguments: "{}" }], source }),
      ToolCallExecutionEvent({ content: [{ callId: "1", name: "now", content: "8\n9" }], source }),
      print("1\r\n"),
      print("bo", "stderr"),
      print("om", "stderr"),
      run,
      say("1\nboom", "runner"),
    ]
    expect(await piped(...items)).toBe(
      lines(
        ["writer (ToolCallRequestEvent)", "  > now({})"],
        ["writer (ToolCallExecutionEvent)", "  < now: 8", "    9"],
        ["runner (CodeOutputEvent)", "  | 1", "  ! boom"],
        ["runner (CodeExecutionEvent)", "  denied: x:443 is not allowed. Allow it."],
        ["  + chart.png (12.1 KiB)", "  = exit 1 after 88 ms in docker"],
        ["runner (TextMessage)", "  1", "  boom"],
      ),
    )
  })

  it("has pieces of a message that never came whole", async () => {
    expect(await piped(chunk("Hel"), chunk("lo"))).toBe(
      lines("writer (ModelClientStreamingChunkEvent)", "  Hello"),
    )
  })
})
