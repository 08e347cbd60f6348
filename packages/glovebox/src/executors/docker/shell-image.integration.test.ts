import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { executorConformance } from "../../testing/executor-conformance.ts"
import { stillWorks, within } from "../../testing/expectations.ts"
import { programsIn, sh } from "../../testing/programs.ts"
import { dockerCommand } from "./docker-command.test-kit.ts"
import { HAS_NO_DOCKER, IMAGE, docker, dockerSubject } from "./docker-subject.test-kit.ts"

const image = `glovebox-test/sh:${process.pid}`
const name = `gb-sh-image-${process.pid}`
const { print } = programsIn(["sh"])

describe.skipIf(HAS_NO_DOCKER)("the Docker executor with an image without Python", () => {
  beforeAll(async () => {
    const remove = "rm -f $(command -v python3) $(command -v python)"
    await dockerCommand("run", "--name", name, "--user", "0", IMAGE, "sh", "-c", remove)
    await dockerCommand("commit", name, image)
    await dockerCommand("rm", name)
  })
  afterAll(async () => {
    await dockerCommand("rmi", "-f", image)
  })

  const subject = dockerSubject("an image without Python", { image })
  executorConformance(
    { describe, it, after: afterAll },
    {
      ...subject,
      // The engine reads the two streams apart.
      features: { ...subject.features, unordered: true },
      languages: ["sh"],
      missing: { language: "python", names: /glovebox-test\/sh.*python3.*Python 3/ },
    },
  )

  it("code that meddles with the agent's process and streams ends its own run at worst", async () => {
    await using executor = docker({ image, timeout: "3s", pool: { size: 1 } })
    for (const attack of [
      "for s in 1 2 9 15 19; do kill -$s 1; done 2>/dev/null; echo survived",
      "kill -9 -1; echo alone",
      "(sleep 1000 &) ; setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & echo left",
      "echo 'deadbeef 0 -' > /proc/1/fd/1; echo forged",
      "timeout 1 cat /proc/1/fd/0; echo stole",
      "exec 0<&- 1>&- 2>&-; exit 5",
      "cat /proc/1/environ /proc/1/cmdline > /dev/null; exit 6",
    ]) {
      const outcome = await within(
        executor.executeCodeBlocks([sh(attack)]).then(
          ({ termination }) => termination as string,
          (error: { code?: string }) => error.code ?? "an error of no kind",
        ),
        30,
        attack,
      )
      expect(["exit", "signal", "timeout", "SANDBOX_BROKEN", "SANDBOX_LOST"]).toContain(outcome)
      await stillWorks(executor, print)
    }
  })
})
