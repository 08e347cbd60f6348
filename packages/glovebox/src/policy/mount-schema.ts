import { posix } from "node:path"
import { z } from "zod"
import { WORKSPACE } from "./workspace-folder.ts"

// Docker's own syntax divides by these, and a control character hides what is shown.
const PLAIN_PATH = /^\/[^:,\p{Cc}]*$/u

// The sandbox has its own of these, which are part of its wall.
const OWN_TREES = ["/proc", "/sys", "/dev"]
const SHARED_MEMORY = "/dev/shm"
// The programs are here, those of the sandbox itself among them; folders in them may be covered.
const PROGRAMS = new Set([
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/usr/bin",
  "/usr/lib",
])

const path = z
  .string()
  .regex(PLAIN_PATH, "must be an absolute path without colons, commas or control characters")

const target = path
  .refine((text) => !text.split("/").includes(".."), "must not climb with ..")
  // One place can be written in many ways, and is compared as one.
  .transform((text) => posix.resolve("/", text))
  .superRefine((place, context) => {
    const message = reasonAgainst(place)
    if (message !== undefined) context.addIssue({ code: "custom", message })
  })

export const mountSchema = z
  .strictObject({
    /** A folder or file of the host. */
    source: path,
    /** Where the sandbox sees it. */
    target,
    mode: z.enum(["ro", "rw"]).default("ro"),
  })
  .refine(({ target: place, mode }) => place !== WORKSPACE || mode === "rw", {
    path: ["mode"],
    message: `must be rw for ${WORKSPACE}, where code and its files are written; mount read-only data elsewhere, such as at /data`,
  })

function reasonAgainst(place: string): string | undefined {
  if (place === "/") return "must not be the root"
  const tree = OWN_TREES.find((one) => place === one || place.startsWith(`${one}/`))
  if (tree !== undefined && place !== SHARED_MEMORY) {
    return `${place} cannot be mounted over: the sandbox has a ${tree} of its own. Use another place, such as /data`
  }
  if (PROGRAMS.has(place)) {
    return `${place} cannot be mounted over: the sandbox's own programs are there. Use another place, such as /data`
  }
  return undefined
}
