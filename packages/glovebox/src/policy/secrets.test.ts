import { describe, expect, it } from "vitest"
import { failureOf } from "../core/failure-of.test-kit.ts"
import { type PolicyInput, SandboxPolicy, parsePolicy } from "./index.ts"

const INTERCEPTED = { to: "api.example.com:443", intercept: true }

function policy(secrets: unknown, allow: unknown[] = [INTERCEPTED], more: PolicyInput = {}): SandboxPolicy {
  return new SandboxPolicy({ ...more, network: { allow }, secrets } as PolicyInput)
}

describe("secrets of a policy", () => {
  it("are read, their hosts in one form: by TLS unless they say http", () => {
    const { fields } = policy(
      {
        TOKEN: {
          hosts: ["API.example.com", "api.example.com:443"],
          header: "Authorization",
          format: "Bearer {value}",
        },
        OTHER: { hosts: ["http://data.local", "http://[2001:DB8::1]:8080"], env: "KEY" },
      },
      [INTERCEPTED, "data.local:80", "[2001:db8::1]:8080"],
    )
    expect(fields.secrets).toEqual({
      TOKEN: { hosts: ["api.example.com:443"], header: "Authorization", format: "Bearer {value}" },
      OTHER: { hosts: ["http://[2001:db8::1]:8080", "http://data.local:80"], env: "KEY" },
    })
    expect(new SandboxPolicy(JSON.parse(JSON.stringify(fields)) as PolicyInput).fields).toEqual(fields)
  })

  it("change nothing of a policy when there are none", () => {
    expect(new SandboxPolicy({ secrets: {} }).sha256).toBe(new SandboxPolicy().sha256)
  })

  it.each([
    [{ T: { hosts: ["other.com"] } }, /secrets\.T\.hosts\.0: other\.com:443 is not reached/],
    [{ T: { hosts: ["api.example.com:8443"] } }, /api\.example\.com:8443 is not reached/],
    [{ T: { hosts: [] } }, /secrets\.T\.hosts: an empty list/],
    [{ T: { hosts: ["*.example.com"] } }, /without a wildcard/],
    [{ T: { hosts: ["https://api.example.com/"] } }, /must be a host such as/],
    [{ T: {} }, /secrets\.T\.hosts/],
    [
      { T: { hosts: ["api.example.com"], value: "x" } },
      /secrets\.T\.value: is not a field .* Known here: hosts, header, format, env/,
    ],
    [{ T: { hosts: ["api.example.com"], header: "Host" } }, /the gate writes itself/],
    [{ T: { hosts: ["api.example.com"], header: "Accept-Encoding" } }, /the gate writes itself/],
    [{ T: { hosts: ["api.example.com"], header: "a b" } }, /name of a header/],
    [{ T: { hosts: ["api.example.com"], header: "X-A", format: "Bearer" } }, /\{value\}/],
    [{ T: { hosts: ["api.example.com"], header: "X-A", format: "{value}\r\n" } }, /printable/],
    [{ T: { hosts: ["api.example.com"], format: "{value}" } }, /say which \(header\)/],
    [{ "my-token": { hosts: ["api.example.com"] } }, /must be a name such as API_TOKEN/],
    [{ T: { hosts: ["api.example.com"], env: "HOME_KEY" } }, /HOME_KEY is in env too/],
    [{ T: { hosts: ["api.example.com"] }, U: { hosts: ["api.example.com"], env: "T" } }, /that of T too/],
    [JSON.parse('{"__proto__": {"hosts": ["api.example.com"]}}'), /secrets\.__proto__/],
  ])("refuse %j", (secrets, message) => {
    expect(failureOf(() => policy(secrets, [INTERCEPTED], { env: { HOME_KEY: "x" } }))).toMatch(message)
  })

  it("are not for what nobody looks at", () => {
    const secrets = { T: { hosts: ["http://db.local:5432"] } }
    expect(failureOf(() => policy(secrets, [{ to: "db.local:5432", protocol: "tcp" }]))).toMatch(
      /rule for the web/,
    )
    expect(
      failureOf(
        () => new SandboxPolicy({ network: { dangerously: "bridge" }, secrets: { T: { hosts: ["a.com"] } } }),
      ),
    ).toMatch(/is not reached/)
  })

  it.each([["api.example.com:443"], ["*.example.com:443"]])(
    "explain the choice when %s is by TLS that nobody may open",
    (rule) => {
      const refused = (): unknown => policy({ TOKEN: { hosts: ["api.example.com"] } }, [rule])
      expect(refused).toThrow(expect.objectContaining({ code: "SECRET_NEEDS_INTERCEPTION" }))
      expect(refused).toThrow(
        /TOKEN is for api\.example\.com:443[\s\S]*intercept: true[\s\S]*certificate authority[\s\S]*http:\/\/host:port/,
      )
      expect(refused).toThrow(/tool on the host/)
    },
  )

  it("name the line of a file", () => {
    const text = "network: { allow: [a.com:80] }\nsecrets:\n  T:\n    hosts:\n      - b.com\n"
    expect(failureOf(() => parsePolicy(text, "p.yaml"))).toMatch(
      /p\.yaml:5.*secrets\.T\.hosts\.0: b\.com:443/,
    )
  })

  it("are a widening, and their hosts too", () => {
    const [one, two] = [
      policy({ T: { hosts: ["api.example.com"], header: "X-Key" } }),
      policy({ T: { hosts: ["api.example.com", "http://a.local:80"], header: "X-Other" } }, [
        INTERCEPTED,
        "a.local:80",
      ]),
    ]
    expect(one.widenings()).toContainEqual({
      path: "secrets.T",
      from: "absent",
      to: "to api.example.com:443, as header X-Key, placeholder in T",
      effect: "widens",
    })
    expect(two.diff(one).filter(({ path }) => path.startsWith("secrets"))).toEqual([
      { path: "secrets.T.hosts", from: "absent", to: "http://a.local:80", effect: "widens" },
      {
        path: "secrets.T",
        from: "as header X-Key, placeholder in T",
        to: "as header X-Other, placeholder in T",
        effect: "changes",
      },
    ])
    expect(policy({}).diff(one)).toMatchObject([{ path: "secrets.T", to: "absent", effect: "narrows" }])
    expect(one.sha256).not.toBe(policy({}).sha256)
  })
})

describe("intercept", () => {
  it("is a part of its rule, and false is none", () => {
    const network = policy({}, [INTERCEPTED, { to: "b.com:443", intercept: false }]).fields.network
    expect(network).toMatchObject({ allow: ["b.com:443", { to: "api.example.com:443", intercept: true }] })
  })

  it.each([
    [{ to: "a.com:443", intercept: true, protocol: "tcp" }, /looks at nothing/],
    [{ to: "a.com:80", intercept: true }, /port 80/],
    [{ to: "a.com:443", intercept: "yes" }, /intercept/],
  ])("refuses %j", (rule, message) => {
    expect(failureOf(() => policy({}, [rule]))).toMatch(message)
  })

  it("is seen in a difference, and lets more pass of a rule that TLS hid itself from", () => {
    const effects = (before: unknown, after: unknown): string[] =>
      policy({}, [after])
        .diff(policy({}, [before]))
        .map(({ to, effect }) => `${effect} ${to}`)
    expect(effects("a.com:443", { to: "a.com:443", intercept: true })).toEqual([
      "narrows a.com:443 (intercepted)",
      "narrows absent",
    ])
    const rule = { to: "a.com:443", methods: ["GET"] }
    expect(effects(rule, { ...rule, intercept: true })).toEqual([
      "widens a.com:443 (intercepted, GET)",
      "narrows absent",
    ])
    expect(effects({ ...rule, intercept: true }, "a.com:443")).toContain("widens a.com:443")
  })
})
