import { createHash, randomUUID } from "node:crypto"
import { readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { type TarEntry, packTar } from "modern-tar"
import { GloveboxError } from "../../core/index.ts"
import { allowListOf } from "../../policy/index.ts"
import { canonicalJson } from "../../internal/canonical-json.ts"
import { functionsModule } from "../functions/functions-module.ts"
import type { WorkspaceFile } from "../workspace-file.ts"
import { WORKSPACE } from "../sandbox/workspace-folder.ts"
import type { DockerOptions } from "./docker-options.ts"
import type { Engine, EngineImage } from "./engine.ts"
import type { SandboxContainer } from "./launch-container.ts"
import { runSetupCommand } from "../sandbox/setup-command.ts"

export const PREPARED_LABEL = "org.glovebox.prepared"
/** Where the functions and their packages are, on the read-only root. */
export const LIBRARY = "/opt/glovebox/lib"
/** Where the preparation sees the wheels. */
export const WHEELS = "/wheels"
const REPOSITORY = "glovebox/prepared"

export interface Preparation {
  readonly engine: Engine
  readonly base: EngineImage
  readonly options: DockerOptions
  /** A container of the base image, in which nothing has run, with the wheels mounted. */
  readonly launch: () => Promise<SandboxContainer>
  /** Whose the container is that the image is made of. */
  readonly labels: Readonly<Record<string, string>>
  /** Who may share the image. @default everybody */
  readonly scope?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * The image that runs use: the base image with the functions and their packages frozen into it. They
 * are installed in a sandbox of their own, before and apart from any code.
 */
export async function prepareImage(preparation: Preparation): Promise<EngineImage> {
  const { engine, base, options } = preparation
  if (options.functions.length === 0) return base
  const packages = [...new Set(options.functions.flatMap(({ pythonPackages }) => pythonPackages))].toSorted()
  if (packages.length > 0 && options.wheelDir === undefined && !hasIndex(options)) {
    throw new GloveboxError(
      "PACKAGES_FAILED",
      `The functions need ${packages.join(", ")}, and there is nowhere to install from: the sandbox has no network. Give wheelDir, a folder with their wheels (pip download fills one), let network: { allow: [...] } name a package index (such as "pypi.org:443" and "files.pythonhosted.org:443"), or use an image that has them.`,
    )
  }
  const module = functionsModule(options.functions)
  const key = await keyOf(preparation, module, packages)
  const name = `${REPOSITORY}:${key.slice(0, 32)}`
  const present = await engine.image(name)
  if (present) return present
  await using container = await preparation.launch()
  if (container.agent.programs["python3"] === null) {
    throw new GloveboxError(
      "LANGUAGE_UNAVAILABLE",
      `The image ${options.policy.fields.image} has no python3, which the functions need: install Python 3 in the image, or name an image that has it.`,
    )
  }
  await install(container, preparation, module, packages)
  // What was put is not sent back, as it did not change.
  const moduleFile = { path: modulePath(options), content: Buffer.from(module, "utf8"), executable: false }
  const files = [moduleFile, ...(await collect(container, options))]
  const labels = { ...preparation.labels, [PREPARED_LABEL]: key }
  await engine.freeze({ base: base.id, archive: await archiveOf(files), name, labels })
  const prepared = await engine.image(name)
  if (!prepared) throw new GloveboxError("PACKAGES_FAILED", `The engine does not keep the image ${name}.`)
  return prepared
}

async function keyOf(
  { engine, base, options, scope }: Preparation,
  module: string,
  packages: readonly string[],
): Promise<string> {
  const wheels = packages.length === 0 ? [] : await sourceOf(engine, options)
  const parts = { base: base.id, name: options.functionsModule, module, packages, wheels, scope }
  return createHash("sha256").update(canonicalJson(parts)).digest("hex")
}

// Whether packages can come from an index: over connections that the policy allows.
function hasIndex({ policy }: DockerOptions): boolean {
  return allowListOf(policy.fields.network) !== undefined
}

// Where packages come from: another place may have others under the same names.
async function sourceOf(engine: Engine, options: DockerOptions): Promise<string[]> {
  if (options.wheelDir === undefined) {
    const { env } = options.policy.fields
    return Object.keys(env)
      .filter((name) => name.startsWith("PIP_"))
      .toSorted()
      .map((name) => `${name}=${env[name]}`)
  }
  // What wheels another machine has cannot be seen from here.
  return engine.isLocal ? listWheels(options) : [randomUUID()]
}

async function listWheels({ wheelDir = "" }: DockerOptions): Promise<string[]> {
  const names = (await readdir(wheelDir)).toSorted()
  return Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs } = await stat(join(wheelDir, name))
      return `${name} ${size} ${mtimeMs}`
    }),
  )
}

async function install(
  { agent }: SandboxContainer,
  { options, signal: given }: Preparation,
  module: string,
  packages: readonly string[],
): Promise<void> {
  const signal = given ? AbortSignal.any([agent.lost, given]) : agent.lost
  await agent.put([{ path: modulePath(options), content: Buffer.from(module, "utf8"), executable: false }])
  if (packages.length > 0) {
    const pip =
      "-m pip install --no-input --disable-pip-version-check --no-cache-dir --no-compile --quiet --target lib"
    const wheels = options.wheelDir === undefined ? [] : ["--no-index", "--find-links", WHEELS]
    const args = [...pip.split(" "), ...wheels, "--", ...packages]
    await run(
      agent,
      signal,
      options,
      ["python3", ...args],
      "PACKAGES_FAILED",
      `pip could not install ${packages.join(", ")}`,
    )
  }
  // By content, not by time: freezing gives every file a new one.
  const compile = "-m compileall -q --invalidation-mode unchecked-hash lib".split(" ")
  await runSetupCommand(agent, options, ["python3", ...compile], signal)
  const load = `import sys; sys.path.insert(0, "${WORKSPACE}/lib"); import ${options.functionsModule}`
  const what = `The module of the functions, ${options.functionsModule}, does not load`
  await run(agent, signal, options, ["python3", "-c", load], "FUNCTION_INVALID", what)
}

async function run(
  agent: SandboxContainer["agent"],
  signal: AbortSignal,
  options: DockerOptions,
  argv: readonly string[],
  code: "PACKAGES_FAILED" | "FUNCTION_INVALID",
  what: string,
): Promise<void> {
  const { image } = options.policy.fields
  const result = await runSetupCommand(agent, options, argv, signal)
  if (result.exitCode === 0) return
  throw new GloveboxError(
    code,
    `${what} (in ${image}, ${result.termination} ${result.exitCode}): ${result.output.trim().slice(-2000)}`,
  )
}

async function collect(
  { agent }: SandboxContainer,
  options: DockerOptions,
): Promise<readonly WorkspaceFile[]> {
  const { workspace, files: maxFiles } = options.policy.fields.limits
  const { files, over } = await agent.collect({ maxFiles, maxBytes: workspace })
  agent.delivered()
  if (over) {
    throw new GloveboxError(
      "PACKAGES_FAILED",
      "The packages are larger than the policy's workspace: raise it.",
    )
  }
  return files
}

function modulePath({ functionsModule }: DockerOptions): string {
  return `lib/${functionsModule}.py`
}

async function archiveOf(files: readonly WorkspaceFile[]): Promise<Uint8Array> {
  const folders = new Set<string>()
  const entries: TarEntry[] = []
  for (const { path, content, executable } of files) {
    if (!path.startsWith("lib/")) continue
    const name = `${LIBRARY.slice(1)}/${path.slice("lib/".length)}`
    const parts = name.split("/")
    for (let depth = 1; depth < parts.length; depth += 1) folders.add(`${parts.slice(0, depth).join("/")}/`)
    const mode = executable ? 0o755 : 0o644
    entries.push({
      header: { name, size: content.length, mode, uid: 0, gid: 0, type: "file" },
      body: content,
    })
  }
  const directories = [...folders].map((name): TarEntry => ({
    header: { name, size: 0, mode: 0o755, uid: 0, gid: 0, type: "directory" },
  }))
  return packTar([...directories, ...entries])
}
