import { type IncomingHttpHeaders, request as httpRequest } from "node:http"
import { connect } from "node:net"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { expectFailure } from "../../../core/expect-failure.test-kit.ts"
import { failureOf } from "../../../core/failure-of.test-kit.ts"
import { codeProposal } from "../approval-gate.test-kit.ts"
import { ApprovalGate, type GateRequest, HttpApprovalQueue } from "../index.ts"

const TOKEN = "a-token-of-the-test"
let queue: HttpApprovalQueue
let gate: ApprovalGate
let url = ""

beforeEach(async () => {
  queue = new HttpApprovalQueue({ tokens: { ann: TOKEN, bob: "another-token-of-it" }, maxBodyBytes: 2000 })
  gate = new ApprovalGate({ provider: queue })
  url = await queue.start()
})

afterEach(async () => {
  await queue.stop()
})

interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Readonly<Record<string, unknown>>
}

async function call(
  path: string,
  options: { method?: string; headers?: object; body?: string } = {},
): Promise<Reply> {
  const { method = "GET", headers = {}, body } = options
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      `${url}${path}`,
      {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...headers },
        agent: false,
      },
      (response) => {
        let text = ""
        response.setEncoding("utf8").on("data", (part: string) => (text += part))
        response.on("end", () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: JSON.parse(text) as Reply["body"],
          })
        })
      },
    )
    sent.on("error", reject).end(body)
  })
}

async function post(id: string, answer: unknown, headers: object = {}): Promise<Reply> {
  return call(`/approvals/${id}`, { method: "POST", headers, body: JSON.stringify(answer) })
}

async function waiting(): Promise<GateRequest> {
  for (;;) {
    const { body } = await call("/approvals")
    const [request] = body["approvals"] as readonly GateRequest[]
    if (request) return request
  }
}

describe("HttpApprovalQueue", () => {
  it("lets one of several gates with the same state use an approval", async () => {
    const gates = [1, 2, 3].map(() => new ApprovalGate({ provider: queue, suspend: true }))
    const [first, second, late] = gates
    if (!first || !second || !late) throw new Error("there are three")
    await expectFailure(first.request(codeProposal()), "APPROVAL_PENDING")
    const unanswered = await first.saveState()
    late.loadState(unanswered)
    const { id, sha256 } = await waiting()
    await post(id, { decision: "approve", sha256 })
    second.loadState(await first.saveState())
    const grants = [await first.request(codeProposal()), await second.request(codeProposal())]
    await grants[0]?.use(grants[0].payload)
    await expectFailure(grants[1]?.use(grants[1].payload) ?? Promise.resolve(), "APPROVAL_USED")
    await expectFailure(late.request(codeProposal()), "APPROVAL_USED")
  })

  it("lists what waits, and takes one answer of whoever has a token", async () => {
    const asked = gate.request(codeProposal())
    const { id, sha256, payload } = await waiting()
    expect(payload).toEqual(codeProposal().payload)
    expect(await call(`/approvals/${id}`)).toMatchObject({
      status: 200,
      body: { approval: { id }, answered: false },
    })
    // Who answers is whose token it is, whatever they call themselves.
    const first = await post(id, { decision: "approve", sha256, by: "somebody else" })
    const second = await post(id, { decision: "deny" }, { authorization: "Bearer another-token-of-it" })
    expect([first.status, second.status]).toEqual([200, 409])
    const grant = await asked
    expect(grant.by).toBe("ann")
    await grant.use(grant.payload)
    const gone = await call(`/approvals/${id}`)
    expect(gone.status).toBe(404)
  })

  it("takes one of many answers at a time", async () => {
    const asked = gate.request(codeProposal())
    const { id } = await waiting()
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(id, { decision: "approve" })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19)
    await expect(asked).resolves.toMatchObject({ id })
  })

  it("takes an edit and a reason", async () => {
    const asked = gate.request(codeProposal())
    const edited = codeProposal("print(2)").payload
    await post((await waiting()).id, { decision: "edit", payload: edited })
    expect((await asked).payload).toEqual(edited)
    const other = expectFailure(gate.request(codeProposal("x")), "APPROVAL_DENIED", /: no$/)
    await post((await waiting()).id, { decision: "deny", reason: "no" })
    await other
  })

  it("says nothing without a token, and nothing to pages", async () => {
    const asked = gate.request(codeProposal()).catch(() => {})
    const { id } = await waiting()
    for (const authorization of [
      "",
      "Bearer",
      "Bearer x",
      `Basic ${TOKEN}`,
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN} `,
    ]) {
      const isRight = authorization.trim() === `Bearer ${TOKEN}`
      for (const path of ["/approvals", `/approvals/${id}`, "/else"]) {
        const { status, body, headers } = await call(path, { headers: { authorization } })
        if (isRight) continue
        expect([status, body]).toEqual([401, { error: "A bearer token is needed." }])
        expect(headers["www-authenticate"]).toBe("Bearer")
      }
    }
    const page = await post(id, { decision: "approve" }, { origin: "http://evil.example" })
    expect(page.status).toBe(403)
    const preflight = await call("/approvals", {
      method: "OPTIONS",
      headers: { authorization: "", origin: "http://x" },
    })
    expect(preflight.status).toBe(401)
    const headers = [page, preflight].flatMap((reply) => Object.keys(reply.headers))
    expect(headers.filter((name) => name.startsWith("access-control"))).toEqual([])
    expect(gate.pending()).toHaveLength(1)
    await queue.stop()
    await asked
  })

  it("refuses what is no answer, and goes on waiting", async () => {
    const asked = gate.request(codeProposal())
    const { id } = await waiting()
    const send = (body: string, headers: object = {}): Promise<number> =>
      call(`/approvals/${id}`, { method: "POST", body, headers }).then(({ status }) => status)
    expect(await send("{")).toBe(400)
    expect(await send("null")).toBe(400)
    expect(await send(`"approve"`)).toBe(400)
    expect(await send(`{"decision":"yes"}`)).toBe(400)
    expect(await send(`{"decision":"approve","__proto__":{}}`)).toBe(400)
    expect(await send(`{"decision":"approve","sha256":"${"0".repeat(64)}"}`)).toBe(400)
    expect(await send(`{"decision":"edit","payload":{}}`)).toBe(400)
    expect(await send(`{"decision":"approve"}`, { "content-type": "text/plain" })).toBe(415)
    expect(await send("x".repeat(2001))).toBe(413)
    expect(await send("x".repeat(5000), { "transfer-encoding": "chunked" })).toBe(413)
    expect((await call(`/approvals/${id}`, { method: "DELETE" })).status).toBe(405)
    expect((await call("/approvals", { method: "POST", body: "{}" })).status).toBe(405)
    for (const path of [
      "/",
      "/approvals/",
      "/approvals/../x",
      `/approvals/${id}/x`,
      "/approvals/..%2f",
      `//approvals`,
    ]) {
      expect((await call(path)).status).toBe(404)
    }
    expect(await send(`{"decision":"approve"}`)).toBe(200)
    expect((await asked).by).toBe("ann")
  })

  it("lives on when clients send rubbish or go away", async () => {
    const { hostname, port } = new URL(url)
    for (const text of [
      "\0\0\0\r\n\r\n",
      "GET /approvals HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
      `POST /approvals HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 100\r\n\r\n{`,
    ]) {
      await new Promise<void>((resolve) => {
        const socket = connect(Number(port), hostname, () => {
          socket.write(text)
          socket.end()
        })
        socket
          .resume()
          .on("error", () => {})
          .on("close", () => resolve())
      })
    }
    expect((await call("/approvals")).status).toBe(200)
  })

  it("forgets a request that is withdrawn", async () => {
    const controller = new AbortController()
    const asked = gate.request(codeProposal(), { signal: controller.signal })
    const ended = asked.catch((error: unknown) => error)
    const { id } = await waiting()
    const enough = new Error("enough")
    controller.abort(enough)
    expect(await ended).toBe(enough)
    expect((await post(id, { decision: "approve" })).status).toBe(404)
  })

  it("keeps an answer to a request that nobody waits for, also in the state", async () => {
    await expectFailure(gate.request(codeProposal(), { suspend: true }), "APPROVAL_PENDING")
    const { id } = await waiting()
    await post(id, { decision: "approve" })
    expect((await gate.saveState()).requests).toMatchObject([{ answer: { decision: "approve", by: "ann" } }])
    expect((await gate.request(codeProposal(), { suspend: true })).id).toBe(id)
  })

  it("denies what waits when it is stopped, twice too, and what comes after", async () => {
    const asked = gate.request(codeProposal())
    const denied = expectFailure(asked, "APPROVAL_DENIED", /stopped/)
    await waiting()
    await queue.stop()
    await queue.stop()
    await denied
    await expectFailure(gate.request(codeProposal()), "APPROVAL_DENIED", /stopped/)
  })

  it("listens on loopback, and has a token of its own by chance", async () => {
    await using other = new HttpApprovalQueue()
    expect(new URL(await other.start()).hostname).toBe("127.0.0.1")
    expect(other.tokens["approver"]).toMatch(/^[\w-]{43}$/)
    expect(failureOf(() => new HttpApprovalQueue({ tokens: { ann: "short" } }))).toMatch(/16 plain/)
    expect(failureOf(() => new HttpApprovalQueue({ tokens: {} }))).toMatch(/empty/)
  })

  it("denies when its port is taken", async () => {
    const taken = new HttpApprovalQueue({ port: Number(new URL(url).port) })
    await expectFailure(
      new ApprovalGate({ provider: taken }).request(codeProposal()),
      "APPROVAL_DENIED",
      /EADDRINUSE/,
    )
    await taken.stop()
  })
})
