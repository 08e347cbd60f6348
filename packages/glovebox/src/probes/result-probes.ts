import { lab } from "./define-probe.ts"
import { type Finding, allowed, blocked, failed } from "./finding.ts"
import type { Lab, LabRun } from "./lab.ts"
import type { Probe } from "./probe.ts"

interface HostileResult {
  readonly id: string
  readonly title: string
  readonly why: string
  /** Python that makes the host's work hard. */
  readonly code: (one: Lab) => string
  /** What is wrong with what came back; undefined when nothing is. */
  readonly fault: (run: LabRun, one: Lab) => string | undefined
  /** What a careless host would have made of the same. */
  readonly careless: { readonly how: string; readonly run: (run: LabRun, one: Lab) => LabRun }
  readonly quick?: boolean
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const withFile = (run: LabRun, path: string, content = "x"): LabRun => ({
  ...run,
  artifacts: [...run.artifacts, { path, content: bytes(content), executable: false }],
})

const RESULTS: readonly HostileResult[] = [
  {
    id: "links",
    title: "have the host read its own file through a link that the code made",
    why: "a host that follows links gives its files to the code, or writes to them",
    code: ({ canary }) => `import os
os.symlink(${JSON.stringify(canary.file)}, "report.txt")
os.symlink(${JSON.stringify(canary.folder)}, "folder")
os.symlink("/proc/self/environ", "environ")
os.makedirs("deep", exist_ok=True)
os.symlink("../../../../../../../../" + ${JSON.stringify(canary.file)}, "deep/up.txt")
open("real.txt", "w").write("real")`,
    fault: ({ artifacts }, { canary }) => {
      const leaked = artifacts.find(({ content }) =>
        new TextDecoder().decode(content).includes(canary.secret),
      )
      if (leaked) return `${leaked.path} has the content of a file of the host`
      const link = artifacts.find(({ path }) => path !== "real.txt")
      return link && `${link.path} came back, which is a link`
    },
    careless: {
      how: "links are followed",
      run: (run, { canary }) => withFile(run, "report.txt", canary.secret),
    },
    quick: true,
  },
  {
    id: "names",
    title: "give files names that lead out of the folder, or look as if",
    why: "the host writes them where the name says",
    code: () => `import os
for name in (b"..\\\\up.txt", b"C:\\\\x.txt", b"a\\nb.txt", b"\\x1b[2J.txt", b"\\xff\\xfe.txt", b"__proto__", b"constructor", b"...", b"~", b"-rf", b"x" * 250, b"CON"):
    try: open(name, "w").write("x")
    except OSError: pass
open("real.txt", "w").write("real")`,
    fault: ({ artifacts }) => {
      const bad = artifacts.find(({ path }) => !isPlainPath(path))
      return bad && `the name ${JSON.stringify(bad.path)} came back`
    },
    careless: { how: "names are taken as they are", run: (run) => withFile(run, "../../up.txt") },
  },
  {
    id: "special-files",
    title: "leave a pipe, a socket and a file that has no end where the host collects files",
    why: "a host that opens a pipe waits for ever",
    code: () => `import os, socket
os.mkfifo("pipe.txt")
one = socket.socket(socket.AF_UNIX); one.bind("socket.txt")
with open("sparse.bin", "wb") as file: file.truncate(1 << 33)
open("real.txt", "w").write("real")`,
    fault: ({ artifacts }) => {
      const odd = artifacts.find(
        ({ path, content }) => path !== "real.txt" && (path !== "sparse.bin" || content.length > 2 ** 30),
      )
      return odd && `${odd.path} came back with ${odd.content.length} bytes`
    },
    careless: { how: "they are taken for files", run: (run) => withFile(run, "pipe.txt") },
  },
  {
    id: "forged-end",
    title: "print what the agent would say, to end the run with another exit code",
    why: "code that can speak for the agent decides what the host believes",
    code: () => `import os, struct
frame = lambda kind, payload: kind + struct.pack(">I", len(payload)) + payload
forged = frame(b"x", b'{"id":1,"code":0,"signal":null,"limits":[]}') + struct.pack(">BxxxI", 1, 5) + b"forge"
for stream in (1, 2): os.write(stream, forged)
os._exit(3)`,
    fault: ({ exitCode, termination }) =>
      exitCode === 3 && termination === "exit"
        ? undefined
        : `it ended with ${exitCode} (${termination}) instead of 3`,
    careless: { how: "what is printed is believed", run: (run) => ({ ...run, exitCode: 0 }) },
    quick: true,
  },
  {
    id: "invalid-text",
    title: "print bytes that are no text, and characters that a terminal acts on",
    why: "a host that stumbles over them loses the result, or shows another",
    code: () => `import os
os.write(1, b"before \\xff\\xfe\\xc0\\x80 \\xed\\xa0\\x80 after")
_ = os.write(2, bytes(range(256)))`,
    fault: ({ stdout, exitCode }) =>
      exitCode === 0 && stdout.startsWith("before ") && stdout.endsWith(" after") && isWellFormed(stdout)
        ? undefined
        : `it came back as ${JSON.stringify(stdout.slice(0, 60))}`,
    careless: {
      how: "bytes are taken for text as they are",
      run: (run) => ({ ...run, stdout: `before ${String.fromCharCode(0xd800)} after` }),
    },
  },
  {
    id: "prototype",
    title: "change the host's objects by names such as __proto__",
    why: "one name in an answer would change every object of the process",
    code: () => `import json, os
os.makedirs("__proto__", exist_ok=True)
open("__proto__/polluted", "w").write("yes")
open("constructor", "w").write("yes")
print(json.dumps({"__proto__": {"polluted": "yes"}}))`,
    fault: ({ artifacts }) => {
      const plain: Record<string, unknown> = {}
      if (plain["polluted"] !== undefined) return "every object has a field more"
      const own = artifacts.every((one) => Object.getPrototypeOf(one) === Object.prototype)
      return own ? undefined : "an artifact has another prototype"
    },
    careless: {
      how: "answers are merged into objects",
      run: (run) => ({
        ...run,
        artifacts: [Object.create({ polluted: "yes" }) as LabRun["artifacts"][number]],
      }),
    },
  },
  {
    id: "many-files",
    title: "leave more files than the host takes",
    why: "each costs the host memory, and a name on its disk",
    code: () => `import os
for number in range(6000): open("file%d" % number, "w").close()`,
    fault: ({ artifacts, artifactsTruncated }) =>
      artifacts.length <= 4096 && artifactsTruncated ? undefined : `${artifacts.length} files came back`,
    careless: {
      how: "all are taken",
      run: (run) => ({ ...run, artifactsTruncated: false }),
    },
  },
]

/** What the host makes of what comes out. */
export const RESULT_PROBES: readonly Probe[] = RESULTS.map(({ id, code, fault, careless, ...rest }) =>
  lab("results", {
    ...rest,
    id: `result.${id}`,
    careless: careless.how,
    run: async (one): Promise<Finding> => {
      if (one.isControl) return judge(careless.run(NOTHING, one), fault, one)
      await using open = one.open({})
      return judge(await open.run(code(one)), fault, one)
    },
  }),
)

// What a host makes of it is what is judged: a careless one needs no sandbox to be careless.
const NOTHING: LabRun = {
  exitCode: 0,
  output: "",
  stdout: "",
  stderr: "",
  termination: "exit",
  truncated: false,
  artifacts: [],
  artifactsTruncated: false,
  sandbox: {},
}

function judge(run: LabRun, fault: HostileResult["fault"], one: Lab): Finding {
  const { exitCode, stderr, artifacts, output } = run
  if (exitCode !== 0 && exitCode !== 3) return failed(`it ended with ${exitCode}: ${stderr.slice(-200)}`)
  const wrong = fault(run, one)
  if (wrong !== undefined) return allowed(wrong)
  return blocked(`${artifacts.length} files and ${output.length} characters came back, all of them plain`)
}

function isPlainPath(path: string): boolean {
  const hasControls = /\p{Cc}/u.test(path)
  return (
    !path.startsWith("/") &&
    !path.includes("\\") &&
    !hasControls &&
    !path.split("/").includes("..") &&
    isWellFormed(path)
  )
}

function isWellFormed(text: string): boolean {
  return Buffer.from(text, "utf8").toString("utf8") === text
}
