import { describe, expect, it } from "vitest"
import { AllowedHosts } from "./allowed-hosts.ts"
import { redirectedRequest } from "./redirected-request.ts"
import type { HttpRequest } from "./send-request.ts"

const hosts = new AllowedHosts(["api.example.com", "api.example.com:80", "*.cdn.example.com"])
const headers = { authorization: "Bearer key", "content-type": "application/json" }
const post: HttpRequest = { url: new URL("https://api.example.com/a"), method: "POST", headers, body: "{}" }

function redirect(location: string, status = 307, request = post): HttpRequest {
  const response = { status, statusText: "", contentType: "", location, body: Buffer.alloc(0), isCut: false }
  return redirectedRequest(request, response, hosts)
}

describe("redirectedRequest", () => {
  it("keeps method, body and headers at the same origin", () => {
    expect(redirect("/b?c")).toEqual({ ...post, url: new URL("https://api.example.com/b?c") })
  })

  it("takes no key to another origin", () => {
    const { headers: sent, body } = redirect("https://eu.cdn.example.com/")
    expect({ sent, body }).toEqual({ sent: { "content-type": "application/json" }, body: "{}" })
  })

  it.each([301, 302, 303])("asks with GET after %i, as browsers do", (status) => {
    expect(redirect("/b", status)).toMatchObject({ method: "GET", body: undefined })
    const head = { ...post, method: "HEAD", body: undefined }
    expect(redirect("/b", status, head).method).toBe("HEAD")
  })

  it.each<[string, RegExp]>([
    ["http://api.example.com/", /from https to http/],
    ["https://evil.example/", /evil\.example:443 is not among the hosts/],
    ["https://cdn.example.com/", /not among the hosts/],
    ["//evil.example/", /not among the hosts/],
    ["https://api.example.com:444/", /not among the hosts/],
    ["https://me:x@api.example.com/", /must not have a user name/],
    ["file:///etc/passwd", /no protocol for this/],
    ["https://", /no address/],
  ])("does not follow to %s", (location, message) => {
    expect(() => redirect(location)).toThrow(message)
  })
})
