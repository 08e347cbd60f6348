import type { CodeBlock } from "../executors/index.ts"

/** Small programs, the same in each language that a subject may have. */
export interface Programs {
  readonly language: string
  readonly extension: string
  /** Names under which the language is known too. */
  readonly aliases: readonly string[]
  readonly print: (text: string) => CodeBlock
  readonly printError: (text: string) => CodeBlock
  readonly exit: (code: number) => CodeBlock
  readonly write: (path: string, text: string) => CodeBlock
  /** Prints the file, or "absent". */
  readonly show: (path: string) => CodeBlock
  /** Writes to both streams in turn, waiting in between for the bytes to arrive. */
  readonly alternate: (texts: readonly string[]) => CodeBlock
  /** Prints, then waits until it is ended; deaf to SIGTERM and SIGINT. */
  readonly wait: (text: string) => CodeBlock
  /** Tries to read a line, and prints "closed" when there is none. */
  readonly readLine: CodeBlock
  readonly environment: CodeBlock
  readonly folder: CodeBlock
  readonly empty: CodeBlock
  readonly comment: string
}

export function python(code: string): CodeBlock {
  return { language: "python", code }
}

export function sh(code: string): CodeBlock {
  return { language: "sh", code }
}

/** A literal of Python. */
export function literal(value: string | readonly string[]): string {
  return JSON.stringify(value)
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

const PYTHON: Programs = {
  language: "python",
  extension: "py",
  aliases: ["python", "Python", "PY", " python3 "],
  print: (text) => python(`print(${literal(text)}, end="")`),
  printError: (text) => python(`import sys\nprint(${literal(text)}, end="", file=sys.stderr)`),
  exit: (code) => python(`import sys\nsys.exit(${code})`),
  // Not as an expression: a notebook would print its value.
  write: (path, text) => python(`with open(${literal(path)}, "w") as file: file.write(${literal(text)})`),
  show: (path) =>
    python(
      `import os\npath = ${literal(path)}\nprint(open(path).read() if os.path.exists(path) else "absent", end="")`,
    ),
  alternate: (texts) =>
    python(`import sys, time
for number, text in enumerate(${literal(texts)}):
    stream = sys.stderr if number % 2 else sys.stdout
    stream.write(text)
    stream.flush()
    time.sleep(0.3)`),
  wait: (text) =>
    python(`import signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
print(${literal(text)}, end="", flush=True)
while True:
    time.sleep(1)`),
  readLine: python(`try:\n    print("read", repr(input()))\nexcept EOFError:\n    print("closed")`),
  environment: python(`import os\nfor name, value in os.environ.items():\n    print(f"{name}={value}")`),
  folder: python(`import os\nprint(os.getcwd())`),
  empty: python(""),
  comment: "#",
}

const SHELL: Programs = {
  language: "sh",
  extension: "sh",
  aliases: ["sh", "SHELL", " Sh "],
  print: (text) => sh(`printf %s ${quoted(text)}`),
  printError: (text) => sh(`printf %s ${quoted(text)} >&2`),
  exit: (code) => sh(`exit ${code}`),
  write: (path, text) => sh(`printf %s ${quoted(text)} > ${quoted(path)}`),
  show: (path) => sh(`if [ -e ${quoted(path)} ]; then cat ${quoted(path)}; else printf absent; fi`),
  alternate: (texts) =>
    sh(
      texts.map((text, index) => `printf %s ${quoted(text)}${index % 2 ? " >&2" : ""}\nsleep 0.6`).join("\n"),
    ),
  wait: (text) => sh(`trap '' TERM INT HUP\nprintf %s ${quoted(text)}\nwhile :; do sleep 1; done`),
  readLine: sh(`if read line; then echo "read $line"; else echo closed; fi`),
  environment: sh("env"),
  folder: sh("pwd"),
  empty: sh(""),
  comment: "#",
}

/** The programs in the first of the languages that has them. */
export function programsIn(languages: readonly string[]): Programs {
  if (languages.includes("python")) return PYTHON
  if (languages.includes("sh")) return SHELL
  throw new Error(`No test programs in ${languages.join(", ")}; python or sh is needed.`)
}
