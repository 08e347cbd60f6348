import { GloveboxError } from "../../core/index.ts"
import type { SandboxAgent } from "./sandbox-agent.ts"
import { type SetupOptions, runSetupCommand } from "./setup-command.ts"

/** What programs trust: outside the workspace, where it would be taken for the code's own. */
const BUNDLE = "/tmp/.glovebox-authorities.pem"

/** Where programs look for it: OpenSSL and Python, requests, curl, Node, git, pip, and others. */
export const AUTHORITY_VARIABLES: Readonly<Record<string, string>> = {
  SSL_CERT_FILE: BUNDLE,
  REQUESTS_CA_BUNDLE: BUNDLE,
  CURL_CA_BUNDLE: BUNDLE,
  NODE_EXTRA_CA_CERTS: BUNDLE,
  GIT_SSL_CAINFO: BUNDLE,
  PIP_CERT: BUNDLE,
  npm_config_cafile: BUNDLE,
  CARGO_HTTP_CAINFO: BUNDLE,
  AWS_CA_BUNDLE: BUNDLE,
}

// Where the systems of images keep what they trust; the first that is there has all of it.
const SYSTEM = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
]

// The variables of the sandbox name a file that is not there yet.
const PYTHON = `import os, sys
system, bundle, *own = sys.argv[1:]
def packaged():
    for module in ("certifi", "pip._vendor.certifi"):
        try: yield __import__(module, fromlist=["where"]).where()
        except Exception: pass
known = ""
for path in [*system.split(":"), *packaged()]:
    try:
        with open(path, encoding="latin-1") as file: known = file.read()
    except OSError: continue
    if "BEGIN CERTIFICATE" in known: break
with open(bundle, "w", encoding="latin-1") as file: file.write("\\n".join([known.rstrip(), *own, ""]))
os.chmod(bundle, 0o444)`

// In one line, and the authority line by line: an agent that is a shell takes no others.
const SHELL = [
  "bundle=$1; shift",
  `for path in ${SYSTEM.join(" ")}; do [ -s "$path" ] && { cat "$path"; echo; break; }; done > "$bundle"`,
  `printf '%s\\n' "$@" >> "$bundle" && chmod 444 "$bundle"`,
].join("; ")

/** Lets the programs of a new sandbox trust its own authority, beside those that its system trusts. */
export async function trustAuthority(
  agent: SandboxAgent,
  options: SetupOptions,
  certificate: string | undefined,
  signal?: AbortSignal,
): Promise<void> {
  if (certificate === undefined) return
  const ended = signal ? AbortSignal.any([signal, agent.lost]) : agent.lost
  const lines = certificate.trim().split("\n")
  const program = agent.programs["python3"]
    ? ["python3", "-I", "-c", PYTHON, SYSTEM.join(":")]
    : ["sh", "-c", SHELL, "sh"]
  const result = await runSetupCommand(agent, options, [...program, BUNDLE, ...lines], ended)
  if (result.exitCode === 0) return
  throw new GloveboxError(
    "SANDBOX_SETUP_FAILED",
    `The sandbox could not be made to trust its certificate authority (${result.termination} ${result.exitCode}): ${result.output.trim().slice(-2000)}`,
  )
}
