import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

const run = promisify(execFile)
const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

/** Files of one authority, a host and a client that it knows, and a stranger with an authority of its own. */
export class Certificates implements AsyncDisposable {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  static async make(): Promise<Certificates> {
    const made = new Certificates(await mkdtemp(join(tmpdir(), "glovebox-tls-")))
    await Promise.all([made.#authority("ca"), made.#authority("other-ca")])
    await Promise.all([
      made.#signed("host", "ca", "IP:127.0.0.1,DNS:localhost"),
      made.#signed("elsewhere", "ca", "IP:127.0.0.2"),
      made.#signed("named", "ca", "DNS:host.example"),
      made.#signed("client", "ca", "DNS:client"),
      made.#signed("stranger", "other-ca", "DNS:stranger"),
    ])
    return made
  }

  path(name: string): string {
    return join(this.folder, `${name}.pem`)
  }

  pair(name: "host" | "elsewhere" | "named" | "client" | "stranger"): {
    readonly cert: string
    readonly key: string
  } {
    return { cert: this.path(name), key: this.path(`${name}-key`) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }

  async #authority(name: string): Promise<void> {
    await this.#openssl(
      ["req", "-x509", ...KEY, "-days", "2", "-subj", `/CN=${name}`],
      ["-keyout", `${name}-key.pem`, "-out", `${name}.pem`],
    )
  }

  async #signed(name: string, authority: string, names: string): Promise<void> {
    await this.#openssl(
      ["req", "-x509", ...KEY, "-days", "2", "-subj", `/CN=${name}`, "-addext", `subjectAltName=${names}`],
      [
        "-addext",
        "basicConstraints=critical,CA:FALSE",
        "-CA",
        `${authority}.pem`,
        "-CAkey",
        `${authority}-key.pem`,
      ],
      ["-keyout", `${name}-key.pem`, "-out", `${name}.pem`],
    )
  }

  async #openssl(...args: readonly (readonly string[])[]): Promise<void> {
    await run("openssl", args.flat(), { cwd: this.folder })
  }
}
