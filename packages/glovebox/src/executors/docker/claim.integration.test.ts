import { describe, expect, it } from "vitest"
import { expectFailure } from "../../core/expect-failure.test-kit.ts"
import { AlteredDockerExecutor } from "./altered-executor.ts"
import type { ContainerSpec } from "./container-spec.ts"
import { BASE, HAS_NO_DOCKER, docker } from "./docker-subject.test-kit.ts"
import type { DockerCommandLineCodeExecutorOptions } from "./docker-options.ts"
import { Engine } from "./engine.ts"
import { findEngine } from "./engine-address.ts"

const python = (code: string): { language: string; code: string } => ({ language: "python", code })

// All that a run could find of another: files, processes, variables, open files, mounts, shared memory.
const SURROUNDINGS = python(`import os, json
places = {place: sorted(os.listdir(place)) for place in ("/workspace", "/tmp", "/dev/shm", "/dev/mqueue")}
processes = len([name for name in os.listdir("/proc") if name.isdigit()])
print(json.dumps([places, processes, dict(os.environ), len(os.listdir("/proc/self/fd")), len(open("/proc/self/mountinfo").readlines()), open("/proc/sysvipc/shm").read()]))`)

const WAYS: Record<string, DockerCommandLineCodeExecutorOptions> = {
  cold: { pool: false },
  pooled: { pool: { size: 1 } },
  session: { isolation: "session" },
}

describe.skipIf(HAS_NO_DOCKER)('verify: "claim"', () => {
  it("lets code into a container that is as promised, and leaves nothing in it", async () => {
    for (const options of Object.values(WAYS)) {
      await using plain = docker({ ...options, interpreter: "fresh" })
      await using claimed = docker({ ...options, interpreter: "fresh", verify: "claim" })
      const [expected, found] = await Promise.all([
        plain.executeCodeBlocks([SURROUNDINGS]),
        claimed.executeCodeBlocks([SURROUNDINGS]),
      ])
      expect(found.exitCode).toBe(0)
      expect(JSON.parse(found.stdout)).toEqual(JSON.parse(expected.stdout))
    }
  })

  it("does so too under gVisor, where there is one, and where there is a way out", async () => {
    for (const options of [{ runtime: "auto" }, { network: { allow: ["example.com:443"] } }]) {
      await using executor = docker({ pool: false, verify: "claim", ...options })
      expect((await executor.executeCodeBlocks([python("print('ran')")])).stdout).toBe("ran\n")
    }
  })

  it("attacks the container of a session once, before its first call", async () => {
    await using executor = docker({ isolation: "session", verify: "claim" })
    const count = python(`print(int(open("/proc/loadavg").read().split()[-1]))`)
    const [first, second] = [
      await executor.executeCodeBlocks([count]),
      await executor.executeCodeBlocks([count]),
    ]
    // The kernel gives a number to each process: few were started between the two calls.
    expect(Number(second.stdout) - Number(first.stdout)).toBeLessThan(10)
  })

  it("refuses one in which an attack works, destroys it, and gives the next call another", async () => {
    const engine = new Engine(await findEngine())
    try {
      for (const options of Object.values(WAYS)) {
        const names: string[] = []
        const alter = (spec: ContainerSpec): ContainerSpec => {
          names.push(spec.Labels["org.glovebox.container"] ?? "")
          return names.length > 1 ? spec : { ...spec, Env: [...spec.Env, "API_KEY=of the host"] }
        }
        await using executor = new AlteredDockerExecutor({ ...BASE, ...options, verify: "claim" }, alter)
        await expectFailure(
          executor.executeCodeBlocks([python("print('ran')")]),
          "SANDBOX_NOT_AS_PROMISED",
          /secrets\.environment is ALLOWED \(also set: API_KEY\)/,
        )
        const next = await executor.executeCodeBlocks([python("print('ran')")])
        expect(next.stdout).toBe("ran\n")
        const left = await engine.list([`org.glovebox.container=${names[0]}`])
        expect(left.filter(({ state }) => state === "running")).toEqual([])
      }
    } finally {
      engine.close()
    }
  })

  it("sees by itself what is missing, where nobody compares settings", async () => {
    const host = (changes: object) => (spec: ContainerSpec) => ({
      ...spec,
      HostConfig: { ...spec.HostConfig, ...changes },
    })
    const alterations: Record<string, (spec: ContainerSpec) => ContainerSpec> = {
      "fs.write-root": host({ ReadonlyRootfs: false }),
      "kernel.seccomp": host({ SecurityOpt: ["no-new-privileges", "seccomp=unconfined"] }),
      "kernel.capabilities": host({ CapDrop: [] }),
    }
    for (const [id, alter] of Object.entries(alterations)) {
      await using executor = new AlteredDockerExecutor({ ...BASE, pool: false, verify: "claim" }, alter)
      await expectFailure(
        executor.executeCodeBlocks([python("print('ran')")]),
        "SANDBOX_NOT_AS_PROMISED",
        new RegExp(`${id} is ALLOWED`),
      )
    }
  })
})
