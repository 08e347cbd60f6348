import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import {
  chmod,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  realpath,
  rm,
  writeFile,
} from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { basename, delimiter, join, relative } from "node:path"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { packTar } from "modern-tar"
import type { PolicyInput } from "../../policy/index.ts"
import { succeed } from "../../testing/expectations.ts"
import { docker } from "./docker-subject.test-kit.ts"
import { type TestServer, listening } from "./egress-servers.test-kit.ts"
import { fileEntry } from "./image-files.test-kit.ts"

const run = promisify(execFile)

export type Files = ReadonlyMap<string, string | Uint8Array>

/** Serves these files by their paths; what stands in them as `ORIGIN` is where that is. */
export async function filesServer(files: Files, origin: (port: number) => string): Promise<TestServer> {
  const server = await listening(
    createServer((request, response) => {
      const content = files.get((request.url ?? "").split("?")[0] ?? "")
      if (content === undefined) response.writeHead(404).end()
      else if (typeof content !== "string") response.end(content)
      else {
        response.setHeader("content-type", content.startsWith("<") ? "text/html" : "application/json")
        response.end(content.replaceAll("ORIGIN", origin(server.port)))
      }
    }),
  )
  return server
}

const WHEEL = "gb_egress_thing-1.0-py3-none-any.whl"

const BUILD_WHEEL = `import zipfile
about, files = "gb_egress_thing-1.0.dist-info", {"gb_egress_thing.py": "WORD = 'installed'\\n"}
files[about + "/METADATA"] = "Metadata-Version: 2.1\\nName: gb-egress-thing\\nVersion: 1.0\\n"
files[about + "/WHEEL"] = "Wheel-Version: 1.0\\nGenerator: a test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
files[about + "/RECORD"] = "".join(f"{path},,\\n" for path in [*files, about + "/RECORD"])
with zipfile.ZipFile("${WHEEL}", "w") as archive:
    for path, text in files.items(): archive.writestr(path, text)`

/** A package index with one wheel, which a sandbox makes: this machine need not have Python. */
export async function pythonIndex(): Promise<Files> {
  await using executor = docker({ pool: false })
  const { artifacts } = await succeed(executor, { language: "python", code: BUILD_WHEEL })
  const page = `<!DOCTYPE html><a href="ORIGIN/files/${WHEEL}">${WHEEL}</a>`
  return new Map<string, string | Uint8Array>([
    ["/simple/gb-egress-thing/", page],
    [`/files/${WHEEL}`, artifacts[0]!.content],
  ])
}

/** A registry of npm with one package. */
export async function npmRegistry(): Promise<Files> {
  const description = { name: "gb-egress-thing", version: "1.0.0", main: "index.js" }
  const archive = gzipSync(
    await packTar([
      fileEntry("package/package.json", JSON.stringify(description)),
      fileEntry("package/index.js", `module.exports = "installed"\n`),
    ]),
  )
  const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`
  const dist = { tarball: "ORIGIN/gb-egress-thing/-/gb-egress-thing-1.0.0.tgz", integrity }
  return new Map<string, string | Uint8Array>([
    [
      "/gb-egress-thing",
      JSON.stringify({
        name: description.name,
        "dist-tags": { latest: "1.0.0" },
        versions: { "1.0.0": { ...description, dist } },
      }),
    ],
    ["/gb-egress-thing/-/gb-egress-thing-1.0.0.tgz", archive],
  ])
}

/** A repository as a plain web server gives it. */
export async function gitRepository(): Promise<Files> {
  const folder = await mkdtemp(join(tmpdir(), "gb-egress-git-"))
  try {
    const person = [
      "-c",
      "user.name=A test",
      "-c",
      "user.email=test@example.com",
      "-c",
      "commit.gpgsign=false",
    ]
    const git = async (...args: string[]): Promise<unknown> =>
      run("git", [...person, ...args], { cwd: folder })
    await git("init", "--quiet", "-b", "main")
    await writeFile(join(folder, "README"), "cloned\n")
    await git("add", "README")
    await git("commit", "--quiet", "-m", "First")
    await git("update-server-info")
    const root = join(folder, ".git")
    const paths = (await filesBelow(root)).map((path) => relative(root, path))
    return new Map(
      await Promise.all(
        paths.map(async (path) => [`/repo.git/${path}`, await readFile(join(root, path))] as const),
      ),
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A folder with this machine's node, npm and git, which sandboxes mount: quicker than an image of them. */
export interface Tools extends AsyncDisposable {
  readonly policy: PolicyInput
}

const TOOLS = "/opt/tools"
// What the image has, and has to fit its loader.
const OF_THE_IMAGE = /^(?:ld-linux|lib(?:c|m|dl|rt|pthread|resolv)\.so)/

export async function tools(): Promise<Tools> {
  const folder = await mkdtemp(join(tmpdir(), "gb-egress-tools-"))
  await Promise.all(["bin", "lib", "git-core"].map(async (name) => mkdir(join(folder, name))))
  const gitFolder = (await run("git", ["--exec-path"])).stdout.trim()
  const programs = [
    [process.execPath, "bin/node"],
    ...["git", "git-remote-http", "git-http-fetch"].map((name) => [
      join(gitFolder, name),
      `git-core/${name}`,
    ]),
  ] as const
  const { stdout } = await run(
    "ldd",
    programs.map(([path = ""]) => path),
  )
  const libraries = [...new Set(stdout.match(/\/\S+(?= \()/g) ?? [])]
    .filter((path) => !OF_THE_IMAGE.test(basename(path)))
    .map((path) => [path, `lib/${basename(path)}`] as const)
  await Promise.all(
    [...programs, ...libraries].map(async ([path = "", place = ""]) => copyFile(path, join(folder, place))),
  )
  await cp(await npmFolder(), join(folder, "npm"), { recursive: true })
  await writeFile(join(folder, "bin/npm"), `#!/bin/sh\nexec node ${TOOLS}/npm/bin/npm-cli.js "$@"\n`)
  await writeFile(join(folder, "bin/git"), `#!/bin/sh\nexec ${TOOLS}/git-core/git "$@"\n`)
  for (const path of ["", "bin/npm", "bin/git"]) await chmod(join(folder, path), 0o755)
  return {
    policy: {
      mounts: [{ source: folder, target: TOOLS }],
      env: {
        PATH: `${TOOLS}/bin:/usr/local/bin:/usr/bin:/bin`,
        LD_LIBRARY_PATH: `${TOOLS}/lib`,
        GIT_EXEC_PATH: `${TOOLS}/git-core`,
      },
    },
    [Symbol.asyncDispose]: async () => rm(folder, { recursive: true, force: true }),
  }
}

async function npmFolder(): Promise<string> {
  const folders = (process.env["PATH"] ?? "").split(delimiter)
  const found = await Promise.all(
    folders.map(async (folder) => realpath(join(folder, "npm")).catch(() => "")),
  )
  const program = found.find((path) => path.endsWith("npm-cli.js"))
  if (program === undefined) throw new Error("npm-cli.js is not behind any npm in PATH")
  return join(program, "../..")
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}
