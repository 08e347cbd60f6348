import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { type TarEntry, unpackTar } from "modern-tar"
import { IMAGE } from "./docker-subject.test-kit.ts"

const run = promisify(execFile)

/** The programs that the agent in sh needs, and few more. */
const APPLETS =
  "sh cat chmod cp dd df env find head kill ln ls mkdir printf rm seq setsid sleep tar timeout true yes".split(
    " ",
  )

/** A file of a tar. */
export function fileEntry(name: string, content: Uint8Array | string, mode = 0o644): TarEntry {
  const body = typeof content === "string" ? Buffer.from(content, "utf8") : content
  return { header: { name, size: body.length, mode, uid: 0, gid: 0, type: "file" }, body }
}

function folderEntry(name: string): TarEntry {
  return { header: { name: `${name}/`, size: 0, mode: 0o755, uid: 0, gid: 0, type: "directory" } }
}

/** The root of an image that has nothing but busybox and what it is linked to, from the sandbox's own image. */
export async function busyboxRoot(): Promise<TarEntry[]> {
  const script = `tar -chf - $(command -v busybox) $(ldd $(command -v busybox) | grep -o '/[^ ]*')`
  const { stdout } = await run(
    "docker",
    ["run", "--rm", "--network", "none", "--label", "org.glovebox.test", IMAGE, "sh", "-c", script],
    { encoding: "buffer", maxBuffer: 64 * 1024 ** 2 },
  )
  const found = (await unpackTar(stdout)).filter(({ header }) => header.type === "file")
  const files = found.map(({ header, data }) => fileEntry(header.name, data ?? new Uint8Array(), 0o755))
  const busybox = found.find(({ header }) => header.name.endsWith("/busybox"))?.header.name ?? ""
  const links = APPLETS.map((name): TarEntry => ({
    header: { name: `bin/${name}`, size: 0, uid: 0, gid: 0, type: "symlink", linkname: `/${busybox}` },
  }))
  return [...["bin", "tmp", "workspace"].map(folderEntry), ...files, ...links]
}
