import { z } from "zod"

const pem = z.string().min(1, "is empty")

export const hostTlsSchema = z.strictObject({ cert: pem, key: pem, clientCa: pem.optional() })

export const workerTlsSchema = z.union([
  z.literal(true),
  z
    .strictObject({
      ca: pem.optional(),
      cert: pem.optional(),
      key: pem.optional(),
      serverName: z.string().min(1, "is empty").optional(),
    })
    .refine(
      ({ cert, key }) => (cert === undefined) === (key === undefined),
      "needs both cert and key, or neither",
    ),
])

/** Each is PEM text, or the path of a file with it. */
export interface HostTls {
  readonly cert: string
  readonly key: string
  /** Workers must show a certificate of this authority. @default none is asked for */
  readonly clientCa?: string | undefined
}

/** Each but serverName is PEM text, or the path of a file with it. */
export interface WorkerTls {
  /** The authority of the host's certificate. @default those that Node trusts */
  readonly ca?: string | undefined
  /** What the worker shows to a host that asks for it. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
  /** The name in the host's certificate, where it is not that of the address. */
  readonly serverName?: string | undefined
}
