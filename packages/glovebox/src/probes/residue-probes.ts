import { lab } from "./define-probe.ts"
import { type Finding, allowed, blocked, failed } from "./finding.ts"
import type { Lab } from "./lab.ts"
import type { Expectation } from "./finding.ts"
import type { Probe, ProbeContext } from "./probe.ts"

interface Residue {
  readonly id: string
  readonly title: string
  readonly why: string
  /** Python that leaves something with the word in `token`. */
  readonly leave: string
  /** Python that sets `found`. */
  readonly look: string
  readonly expects: (context: ProbeContext) => Expectation | undefined
  readonly quick?: boolean
}

const inSession = ({ facts }: ProbeContext): Expectation =>
  facts.path === "session" || facts.tier === "jupyter" ? "ALLOWED" : "BLOCKED"
const inKernel = ({ facts }: ProbeContext): Expectation => (facts.tier === "jupyter" ? "ALLOWED" : "BLOCKED")

const RESIDUES: readonly Residue[] = [
  {
    id: "files",
    title: "find files of the run before in /tmp and shared memory",
    why: "they may hold what another user worked on",
    leave: `for place in ("/tmp", "/dev/shm"): open(place + "/" + token, "w").close()`,
    look: `found = [place for place in ("/tmp", "/dev/shm") if os.path.exists(place + "/" + token)]`,
    // A session keeps its files, which is what it is for.
    expects: inSession,
    quick: true,
  },
  {
    id: "processes",
    title: "find a process of the run before",
    why: "it could watch what comes next, and speak in its name",
    leave: `if os.fork() == 0:
    os.setsid()
    os.execv("/proc/self/exe", ["python3", "-c", "import time; time.sleep(30)", token])
end = time.monotonic() + 5
while not seen() and time.monotonic() < end: time.sleep(0.01)`,
    look: "found = seen()",
    // Also in a session: all that a call started ends with it.
    expects: () => "BLOCKED",
  },
  {
    id: "environment",
    title: "find variables that the run before set",
    why: "a variable such as LD_PRELOAD makes every program another's",
    leave: `os.environ["GLOVEBOX_RESIDUE"] = token`,
    look: `found = os.environ.get("GLOVEBOX_RESIDUE") == token`,
    expects: inKernel,
  },
  {
    id: "interpreter",
    title: "find what the run before changed in the interpreter",
    why: "an interpreter that is kept ready must not be the one that code ran in",
    leave: "import builtins; builtins.glovebox_residue = token; sys.path.insert(0, token)",
    look: `import builtins; found = getattr(builtins, "glovebox_residue", None) == token or token in sys.path`,
    expects: inKernel,
  },
  {
    id: "startup",
    title: "have files that Python and shells read at their start run in the next run",
    why: "so one run becomes part of all that follow",
    leave: `import site
home = "/tmp"
for path in (home + "/sitecustomize.py", home + "/usercustomize.py", home + "/.bashrc"):
    open(path, "w").write("# " + token)`,
    look: `found = any(os.path.exists("/tmp/" + name) for name in ("sitecustomize.py", "usercustomize.py", ".bashrc"))`,
    expects: inSession,
  },
]

const PRELUDE = (token: string): string => `import os, sys, time
token = "${token}"
def seen():
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                if token.encode() in open("/proc/" + name + "/cmdline", "rb").read(): return True
            except OSError: pass
    return False
`

/** What one run finds of another. */
export const RESIDUE_PROBES: readonly Probe[] = RESIDUES.map(({ id, leave, look, ...rest }) =>
  lab("lifecycle", {
    ...rest,
    id: `life.residue-${id}`,
    careless: "both are one run",
    run: async (one) => residue(one, leave, look),
  }),
)

async function residue(one: Lab, leave: string, look: string): Promise<Finding> {
  const prelude = PRELUDE(one.token)
  const tell = `${look}\nprint("found" if found else "nothing")`
  const runs = one.isControl ? [`${prelude}${leave}\n${tell}`] : [`${prelude}${leave}`, `${prelude}${tell}`]
  let last = { stdout: "", stderr: "", exitCode: 0 }
  for (const code of runs) {
    last = await one.sandboxes.run(code)
    if (last.exitCode !== 0)
      return failed(`it ended with ${last.exitCode}: ${last.stderr.trim().split("\n").at(-1) ?? ""}`)
  }
  if (last.stdout.includes("found")) return allowed("it was found by the next run")
  return last.stdout.includes("nothing") ? blocked("the next run finds nothing of it") : failed(last.stdout)
}
