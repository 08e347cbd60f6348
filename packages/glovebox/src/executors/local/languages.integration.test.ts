import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { local } from "./local-subject.test-kit.ts"

let folder = ""

// PowerShell itself is not installed where these tests run: what is tested is which program gets which arguments.
const FAKE = `#!/bin/sh
echo "$(basename "$0") $*"
cat "$6"`

async function fake(name: string, place: string): Promise<string> {
  const bin = join(folder, place)
  await rm(bin, { recursive: true, force: true })
  await mkdir(bin)
  await writeFile(join(bin, name), FAKE)
  await chmod(join(bin, name), 0o755)
  return `${bin}:/usr/bin:/bin`
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-languages-"))
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

const ARGUMENTS =
  /-NoProfile -NonInteractive -ExecutionPolicy Bypass -File tmp_code_[0-9a-f]{64}\.ps1\nGet-Date$/

describe("languages of the local executor", () => {
  it.each(["pwsh", "powershell", "ps1", "PowerShell"])(
    "%s is run by pwsh, with the code in a file",
    async (language) => {
      await using executor = local({ env: { PATH: await fake("pwsh", "core") } })
      const { stdout } = await executor.executeCodeBlocks([{ language, code: "Get-Date" }])
      expect(stdout).toMatch(ARGUMENTS)
      expect(stdout).toMatch(/^pwsh /)
    },
  )

  it("where only the older powershell is there, that runs it", async () => {
    await using executor = local({ env: { PATH: await fake("powershell", "older") } })
    const { stdout } = await executor.executeCodeBlocks([{ language: "ps1", code: "Get-Date" }])
    expect(stdout).toMatch(ARGUMENTS)
    expect(stdout).toMatch(/^powershell /)
  })

  it("a command of the user's own is taken as it is", async () => {
    const path = await fake("powershell", "own")
    await using executor = local({
      env: { PATH: path },
      languages: { powershell: { command: ["pwsh", "-File"] } },
    })
    const call = executor.executeCodeBlocks([{ language: "ps1", code: "Get-Date" }])
    await expectFailure(call, "LANGUAGE_UNAVAILABLE", /no pwsh on the PATH/)
  })

  it("a program is looked for on the code's PATH alone, and never in its own folder", async () => {
    await using executor = local({ env: { PATH: `.:${folder}/none::/usr/bin:/bin` } })
    await executor.executeCodeBlocks([
      { language: "sh", code: "printf '#!/bin/sh\\necho mine' > pwsh; chmod +x pwsh" },
    ])
    const call = executor.executeCodeBlocks([{ language: "pwsh", code: "x" }])
    await expectFailure(call, "LANGUAGE_UNAVAILABLE", /PowerShell 7/)
  })
})
