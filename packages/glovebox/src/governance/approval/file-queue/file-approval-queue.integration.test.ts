import { randomUUID } from "node:crypto"
import {
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { DENY_ALL, codeProposal } from "../approval-gate.test-kit.ts"
import {
  type ApprovalError,
  ApprovalGate,
  type ApprovalGateOptions,
  FileApprovalQueue,
  type GateRequest,
  answerApproval,
  listApprovals,
} from "../index.ts"

let root = ""
let folder = ""

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "glovebox-queue-"))
  folder = join(root, "queue")
})

afterEach(async () => {
  await rm(root, { recursive: true, force: true })
})

function gateOn(options: ApprovalGateOptions = {}, poll = 20): ApprovalGate {
  return new ApprovalGate({ provider: new FileApprovalQueue({ folder, poll }), ...options })
}

/** Posts a request, and leaves it. */
async function posted(gate: ApprovalGate, code = "print(1)"): Promise<GateRequest> {
  await expectFailure(gate.request(codeProposal(code), { suspend: true }), "APPROVAL_PENDING")
  const request = gate.pending().at(-1)
  if (!request) throw new Error("nothing is pending")
  return request
}

const file = (id: string, what: string): string => join(folder, `${id}.${what}.json`)

describe("FileApprovalQueue", () => {
  it("has one private file for a request, and takes the answer of another process", async () => {
    const gate = gateOn()
    const { id, sha256 } = await posted(gate)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    expect((await stat(file(id, "request"))).mode & 0o777).toBe(0o600)
    expect(await readdir(folder)).toEqual([`${id}.request.json`])
    expect(await listApprovals(folder)).toMatchObject([{ id, sha256, agent: "coder" }])
    await answerApproval(folder, id, { decision: "approve", by: "ann", sha256 })
    expect(await listApprovals(folder)).toEqual([])
    const grant = await gate.request(codeProposal())
    expect([grant.id, grant.by]).toEqual([id, "ann"])
    await grant.use(grant.payload)
    expect(await readdir(folder)).toEqual([`${id}.used.json`])
  })

  it("waits for the answer, told by the file system and not by the poll", async () => {
    const gate = gateOn({}, 3_600_000)
    const waiting = expectFailure(gate.request(codeProposal()), "APPROVAL_DENIED", /not now/)
    let found: readonly GateRequest[] = []
    while (found.length === 0) found = await listApprovals(folder)
    await answerApproval(folder, found[0]?.id ?? "", { decision: "deny", reason: "not now" })
    await waiting
  })

  it("keeps an edit, and an answer that came while no gate was there", async () => {
    const first = gateOn()
    const { id } = await posted(first)
    const state: unknown = JSON.parse(JSON.stringify(await first.saveState()))
    await answerApproval(folder, id, { decision: "edit", payload: codeProposal("print(2)").payload })
    const second = gateOn()
    second.loadState(state)
    const grant = await second.request(codeProposal())
    expect(grant.payload).toEqual(codeProposal("print(2)").payload)
    expect(grant.by).toMatch(/./)
  })

  it("puts an answer into the state that is saved", async () => {
    const gate = gateOn()
    const { id } = await posted(gate)
    await answerApproval(folder, id, { decision: "approve", by: "ann" })
    expect((await gate.saveState()).requests).toMatchObject([{ answer: { decision: "approve", by: "ann" } }])
  })

  it("lets one of two processes with the same state use it", async () => {
    const source = gateOn()
    const { id } = await posted(source)
    await answerApproval(folder, id, { decision: "approve" })
    const state = await source.saveState()
    const gates = Array.from({ length: 8 }, () => gateOn())
    const grants = await Promise.all(
      gates.map((gate) => {
        gate.loadState(state)
        return gate.request(codeProposal())
      }),
    )
    const uses = await Promise.allSettled(grants.map((grant) => grant.use(grant.payload)))
    expect(uses.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
    const late = gateOn()
    late.loadState({ ...state, requests: state.requests.map(({ request }) => ({ request })) })
    await expectFailure(late.request(codeProposal()), "APPROVAL_USED")
    await expectFailure(answerApproval(folder, id, { decision: "approve" }), "APPROVAL_USED")
  })

  it("has no files for what a rule allows", async () => {
    const grant = await gateOn().request(codeProposal("x", { policy: DENY_ALL }))
    await grant.use(grant.payload)
    await expect(stat(folder)).rejects.toThrow("ENOENT")
  })

  it("takes the first of many answers", async () => {
    const gate = gateOn()
    const { id } = await posted(gate)
    const people = Array.from({ length: 20 }, (_none, index) => `p${index}`)
    const answers = await Promise.allSettled(
      people.map((by) => answerApproval(folder, id, { decision: "approve", by })),
    )
    const winners = people.filter((_name, index) => answers[index]?.status === "fulfilled")
    expect(winners).toHaveLength(1)
    const late = answers.filter((answer) => answer.status === "rejected")
    const codes = late.map(({ reason }) => (reason as ApprovalError).code)
    expect(new Set(codes)).toEqual(new Set(["APPROVAL_ANSWERED"]))
    expect((await gate.request(codeProposal())).by).toBe(winners[0])
    expect((await readdir(folder)).filter((name) => name.endsWith(".tmp"))).toEqual([])
  })

  it("removes the request when nobody waits for it any more", async () => {
    const gate = gateOn()
    const controller = new AbortController()
    const waiting = gate.request(codeProposal(), { signal: controller.signal })
    while ((await listApprovals(folder)).length === 0);
    controller.abort(new Error("enough"))
    await expect(waiting).rejects.toThrow("enough")
    while ((await readdir(folder)).length > 0);
    expect(await readdir(folder)).toEqual([])
  })

  it("sweeps away what has expired", async () => {
    const gate = gateOn({ expiresIn: 1 })
    await gate.request(codeProposal(), { suspend: true }).catch(() => {})
    while ((await listApprovals(folder)).length > 0);
    const { id } = await posted(gateOn(), "print(2)")
    expect(await readdir(folder)).toEqual([`${id}.request.json`])
  })

  it.each<[string, (request: GateRequest) => Promise<unknown>]>([
    ["is torn", ({ id }) => writeFile(file(id, "answer"), `{"decision":"appr`, { mode: 0o600 })],
    ["is empty", ({ id }) => writeFile(file(id, "answer"), "", { mode: 0o600 })],
    [
      "is no UTF-8",
      ({ id }) => writeFile(file(id, "answer"), Buffer.from([0x22, 0xff, 0x22]), { mode: 0o600 }),
    ],
    [
      "has no hash",
      ({ id }) => writeFile(file(id, "answer"), `{"id":"${id}","decision":"approve"}`, { mode: 0o600 }),
    ],
    [
      "is for another payload",
      ({ id }) =>
        writeFile(file(id, "answer"), JSON.stringify({ id, sha256: "0".repeat(64), decision: "approve" }), {
          mode: 0o600,
        }),
    ],
    [
      "is for another request",
      ({ id, sha256 }) =>
        writeFile(file(id, "answer"), JSON.stringify({ id: randomUUID(), sha256, decision: "approve" }), {
          mode: 0o600,
        }),
    ],
    [
      "is a link",
      async ({ id, sha256 }) => {
        await writeFile(join(root, "x.json"), JSON.stringify({ id, sha256, decision: "approve" }), {
          mode: 0o600,
        })
        await symlink(join(root, "x.json"), file(id, "answer"))
      },
    ],
    ["is a folder", ({ id }) => mkdir(file(id, "answer"))],
    [
      "can be written by others",
      async ({ id, sha256 }) => {
        await writeFile(file(id, "answer"), JSON.stringify({ id, sha256, decision: "approve" }))
        await chmod(file(id, "answer"), 0o666)
      },
    ],
    [
      "is too large",
      async ({ id }) => {
        await writeFile(file(id, "answer"), "", { mode: 0o600 })
        await truncate(file(id, "answer"), 33 * 1024 ** 2)
      },
    ],
  ])("denies when the answer %s", async (_how, spoil) => {
    const gate = gateOn()
    await spoil(await posted(gate))
    await expectFailure(gate.request(codeProposal()), "APPROVAL_DENIED")
  })

  it.each<[string, () => Promise<unknown>]>([
    [
      "others may write to",
      async () => {
        await mkdir(folder)
        await chmod(folder, 0o777)
      },
    ],
    [
      "is a link",
      async () => {
        await mkdir(join(root, "real"))
        await symlink(join(root, "real"), folder)
      },
    ],
    ["is a file", () => writeFile(folder, "")],
  ])("denies when the folder %s", async (_how, spoil) => {
    await spoil()
    await expectFailure(gateOn().request(codeProposal()), "APPROVAL_DENIED", /could not be asked for/)
  })
})

describe("listApprovals", () => {
  it("leaves out what is no request, and says so", async () => {
    const gate = gateOn()
    const request = await posted(gate)
    const other = randomUUID()
    await writeFile(file(randomUUID(), "request"), "{", { mode: 0o600 })
    await writeFile(file("../x".replaceAll("/", "_"), "request"), JSON.stringify(request), { mode: 0o600 })
    await writeFile(
      file(other, "request"),
      JSON.stringify({ ...request, id: other, payload: codeProposal("x").payload }),
      {
        mode: 0o600,
      },
    )
    await symlink("/etc/passwd", file(randomUUID(), "request"))
    await writeFile(join(folder, "notes.txt"), "hello")
    const refused: string[] = []
    const found = await listApprovals(folder, { onRefused: (_file, why) => refused.push(why) })
    expect(found.map(({ id }) => id)).toEqual([request.id])
    expect(refused).toHaveLength(4)
    expect(refused.join("\n")).toMatch(/link/)
    expect(refused.join("\n")).toMatch(/not that of its sha256/)
  })
})

describe("answerApproval", () => {
  it("refuses what does not wait, has expired, or is not what was looked at", async () => {
    const gate = gateOn()
    const { id } = await posted(gate)
    await expectFailure(answerApproval(folder, "../../x", { decision: "approve" }), "OPTION_INVALID")
    await expectFailure(answerApproval(folder, randomUUID(), { decision: "approve" }), "APPROVAL_UNKNOWN")
    const wrong = { decision: "approve", sha256: "0".repeat(64) } as const
    await expectFailure(answerApproval(folder, id, wrong), "OPTION_INVALID", /another payload/)
    await expectFailure(answerApproval(folder, id, { decision: "yes" } as never), "OPTION_INVALID")
    const saved = JSON.parse(await readFile(file(id, "request"), "utf8")) as GateRequest
    await writeFile(file(id, "request"), JSON.stringify({ ...saved, expires: 1 }))
    await expectFailure(answerApproval(folder, id, { decision: "approve" }), "APPROVAL_EXPIRED")
    expect(await listApprovals(folder)).toEqual([])
  })
})
