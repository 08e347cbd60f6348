import { z } from "zod"
import { type Component, type ComponentDefinition, GloveboxError, defineComponent } from "../../core/index.ts"
import { abortable } from "../../internal/abortable.ts"
import { errorMessage } from "../../internal/error-message.ts"
import { formatIssues } from "../../internal/format-issues.ts"
import type { ToolSchema } from "../../models/index.ts"
import { asImage } from "../code-execution/images-of.ts"
import { type Tool, type ToolOptions, type ToolParameters, type ToolResult, tool } from "../index.ts"
import { errorResult } from "../tool-result.ts"
import { AllowedHosts } from "./allowed-hosts.ts"
import { headerRedactor } from "./header-redactor.ts"
import {
  autogenHttpToolConfigSchema,
  configFromOptions,
  httpToolConfigSchema,
  optionsFromAutogen,
  optionsFromConfig,
} from "./http-tool-config.ts"
import { redirectedRequest } from "./redirected-request.ts"
import { type HttpRequest, type HttpResponse, type SendOptions, sendRequest } from "./send-request.ts"
import { UrlTemplate } from "./url-template.ts"

type Headers = Readonly<Record<string, string>>
type OfTool = "name" | "description" | "parameters" | "strict" | "approval" | "risk" | "errors"

export interface HttpToolOptions<Parameters extends ToolParameters> extends Pick<
  ToolOptions<Parameters>,
  OfTool
> {
  /** With {arguments} in its path and query: "https://api.example.com/users/{id}". */
  readonly url: string
  /** The hosts that may be asked, as "host", "host:port" or "*.host:port"; that of the address, and those of redirects. */
  readonly allow: readonly string[]
  /** Arguments that are not in the address go into the query of a GET, HEAD or DELETE, else into a JSON body. @default "GET" */
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | undefined
  /** Such as a key; a function is asked for each call. Never told to the model, nor to another origin. @default {} */
  readonly headers?: Headers | (() => Headers | Promise<Headers>) | undefined
  /** @default 30000 */
  readonly timeoutMs?: number | undefined
  /** What is kept of an answer. @default 1048576 */
  readonly maxBytes?: number | undefined
  /** Lets it ask private, local and other special addresses too. @default false */
  readonly allowPrivate?: boolean | undefined
}

const schema = z.object({
  url: z.string(),
  allow: z.array(z.string()).min(1, "is empty: name the hosts that it may ask"),
  method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]).default("GET"),
  headers: z
    .union([
      z.record(z.string(), z.string()),
      z.custom<() => never>((value) => typeof value === "function", "must be an object or a function"),
    ])
    .default({}),
  timeoutMs: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .default(30_000),
  maxBytes: z
    .int()
    .min(1)
    .default(1024 ** 2),
  allowPrivate: z.boolean().default(false),
})

const MOST_REDIRECTS = 5

/** A tool that asks a web API: where it may go is fixed, and what the model writes goes into its place, encoded. */
export function httpTool<const Parameters extends ToolParameters>(
  options: HttpToolOptions<Parameters>,
): Tool & Component {
  const { url, allow, method, headers, timeoutMs, maxBytes, allowPrivate, ...ofTool } = options
  const { data, error } = schema.safeParse({ url, allow, method, headers, timeoutMs, maxBytes, allowPrivate })
  if (error)
    throw new GloveboxError("TOOL_INVALID", `The HTTP tool cannot be made: ${formatIssues(error.issues)}.`)
  const template = new UrlTemplate(data.url)
  const hosts = new AllowedHosts(data.allow)
  const fault = hosts.fault(new URL(template.origin))
  if (fault !== undefined) throw new GloveboxError("TOOL_INVALID", `The HTTP tool cannot be made: ${fault}.`)
  const made = tool<Parameters>({
    ...ofTool,
    execute: async (args, { signal }) => {
      const late = AbortSignal.timeout(data.timeoutMs)
      const limits = { ...data, signal: AbortSignal.any([signal, late]) }
      const given =
        typeof headers === "function" ? await abortable(ask(headers), limits.signal) : (headers ?? {})
      const request = requestFor(
        template,
        data.method,
        named(made.schema, args as Record<string, unknown>),
        given,
      )
      const hide = headerRedactor(given)
      try {
        return toResult(options.name, await follow(request, hosts, limits), hide)
      } catch (cause) {
        signal.throwIfAborted()
        throw new Error(hide(failureText(cause, late, data.timeoutMs, request.url)), { cause })
      }
    },
  })
  checkPlaces(template, made)
  return { ...made, toComponent: () => httpToolComponent.dump(configFromOptions(options, template.fixed)) }
}

/** Makes an HTTP tool from a component's data. */
export const httpToolComponent: ComponentDefinition<
  z.input<typeof httpToolConfigSchema>,
  Tool
> = defineComponent({
  provider: "glovebox.tools.HttpTool",
  type: "tool",
  config: httpToolConfigSchema,
  create: (config) => httpTool(optionsFromConfig(config)),
})

/** The same from data that AutoGen wrote: it asks that host alone, and no private address. */
export const autogenHttpToolComponent: ComponentDefinition<
  z.input<typeof autogenHttpToolConfigSchema>,
  Tool
> = defineComponent({
  provider: "autogen_ext.tools.http.HttpTool",
  type: "tool",
  config: autogenHttpToolConfigSchema,
  create: (config) => httpTool(optionsFromAutogen(config)),
})

function checkPlaces({ names, fixed }: UrlTemplate, { name, schema: { parameters = {} } }: Tool): void {
  const known = Object.keys((parameters["properties"] as object | undefined) ?? {})
  const twice = known.find((one) => fixed.has(one) && !names.has(one))
  if (twice !== undefined) {
    throw new GloveboxError(
      "TOOL_INVALID",
      `The address of tool ${name} has ${twice} in its query, and a parameter of this name has no place there: both would be sent.`,
    )
  }
  const unknown = [...names].find((one) => !known.includes(one))
  if (unknown === undefined) return
  throw new GloveboxError(
    "TOOL_INVALID",
    `The address of tool ${name} has {${unknown}}, which is none of its parameters (${known.join(", ")}).`,
  )
}

/** The arguments that the schema names, or says that there may be: a model could send others to an open schema. */
function named({ parameters = {} }: ToolSchema, args: Record<string, unknown>): Record<string, unknown> {
  if (parameters["additionalProperties"] !== undefined) return args
  const known = (parameters["properties"] as object | undefined) ?? {}
  return Object.fromEntries(Object.entries(args).filter(([name]) => Object.hasOwn(known, name)))
}

async function ask(headers: () => Headers | Promise<Headers>): Promise<Headers> {
  return headers()
}

function requestFor(
  template: UrlTemplate,
  method: string,
  args: Record<string, unknown>,
  headers: Headers,
): HttpRequest {
  const url = template.withArguments(args)
  const rest = Object.entries(args).filter(
    ([name, value]) => !template.names.has(name) && value !== undefined,
  )
  if (["GET", "HEAD", "DELETE"].includes(method)) {
    // What the address says itself is not for a model to say again.
    for (const [name, value] of rest.filter(([one]) => !template.fixed.has(one))) {
      for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
        url.searchParams.append(name, typeof one === "string" ? one : JSON.stringify(one))
      }
    }
    return { url, method, headers, body: undefined }
  }
  const body = JSON.stringify(Object.fromEntries(rest))
  return { url, method, headers: { "content-type": "application/json", ...headers }, body }
}

async function follow(first: HttpRequest, hosts: AllowedHosts, limits: SendOptions): Promise<HttpResponse> {
  let request = first
  for (let redirects = 0; ; redirects += 1) {
    const response = await sendRequest(request, limits)
    if (![301, 302, 303, 307, 308].includes(response.status) || response.location === undefined)
      return response
    if (redirects === MOST_REDIRECTS) throw new Error("it redirects again and again")
    request = redirectedRequest(request, response, hosts)
  }
}

function toResult(
  name: string,
  { status, statusText, contentType, body, isCut }: HttpResponse,
  hide: (text: string) => string,
): unknown {
  const image = contentType.startsWith("image/") && !isCut ? asImage(body) : undefined
  const text = `${hide(body.toString())}${isCut ? "\n[the rest was left out: it is too long]" : ""}`
  if (status < 200 || status > 299) {
    return errorResult(
      name,
      `HTTP ${status} ${statusText}${body.length === 0 ? "" : `: ${text}`}`,
    ) satisfies ToolResult
  }
  return image ?? (text === "" ? `HTTP ${status} ${statusText}, without content` : text)
}

function failureText(
  error: unknown,
  late: AbortSignal,
  timeoutMs: number,
  { origin, pathname }: URL,
): string {
  // The query may hold what is not for a log.
  const where = `${origin}${pathname}`
  if (late.aborted) return `${where} did not answer within ${timeoutMs} ms.`
  return `${where} could not be asked: ${errorMessage(error)}.`
}
