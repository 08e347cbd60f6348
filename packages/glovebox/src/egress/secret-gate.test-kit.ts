import { TestGate } from "./egress-gate.test-kit.ts"
import { type GateSecret, makePlaceholder } from "./index.ts"

export const VALUE = "s3cr3t/value+of&the=test"
export const PLACEHOLDER = makePlaceholder(VALUE)

/** A gate with the secret, to a server; `other.test` is allowed too, and is the same. */
export function gateTo(server: { readonly port: number }, more: Partial<GateSecret> = {}): Promise<TestGate> {
  const hosts = [`http://allowed.test:${server.port}`]
  return TestGate.start({
    network: {
      allow: [`allowed.test:${server.port}`, `other.test:${server.port}`],
      allowPrivate: [`127.0.0.1:${server.port}`],
    },
    secrets: [{ name: "TOKEN", value: VALUE, placeholder: PLACEHOLDER, hosts, ...more }],
  })
}

export interface RequestMore {
  readonly host?: string
  readonly path?: string
}

export function request(
  port: number,
  headers: readonly string[],
  { host = "allowed.test", path = "/x" }: RequestMore = {},
): string {
  return [`GET http://${host}:${port}${path} HTTP/1.1`, `Host: ${host}:${port}`, ...headers, "", ""].join(
    "\r\n",
  )
}

export function base64(text: string): string {
  return Buffer.from(text, "latin1").toString("base64")
}
