import type { PolicyFields } from "../../policy/index.ts"
import { WORKSPACE } from "../sandbox/workspace-folder.ts"

/** A file made up for the sandbox. */
export interface OwnFile {
  readonly path: string
  readonly content: string
}

/** The few files of /etc that programs look for; nothing in them is the host's. */
export function settingFiles({ user }: PolicyFields): OwnFile[] {
  const [uid = "", gid = ""] = user.split(":")
  return [
    {
      path: "/etc/passwd",
      content:
        (uid === "0" ? "" : "root:x:0:0:root:/:/bin/false\n") +
        `sandbox:x:${uid}:${gid}:sandbox:${WORKSPACE}:/bin/sh\n`,
    },
    { path: "/etc/group", content: `${gid === "0" ? "" : "root:x:0:\n"}sandbox:x:${gid}:\n` },
    { path: "/etc/nsswitch.conf", content: "passwd: files\ngroup: files\nhosts: files\n" },
    { path: "/etc/hosts", content: "127.0.0.1 localhost sandbox\n::1 localhost\n" },
  ]
}
