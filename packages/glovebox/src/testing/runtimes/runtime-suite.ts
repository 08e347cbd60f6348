import { z } from "zod"
import {
  type AgentFactory,
  type Closure,
  ClosureAgent,
  type RegisterOptions,
  defineMessage,
  silentLogger,
} from "../../core/index.ts"
import type { RuntimePlace, RuntimeSubject, TestedRuntime, TestedRuntimeOptions } from "../runtime-subject.ts"
import type { TestRunner } from "../test-runner.ts"

/** The messages of the tests: all of their fields can cross a wire. */
export const Say = defineMessage("ConformanceSay", z.object({ text: z.string().default("") }))
export const Said = defineMessage("ConformanceSaid", z.object({ text: z.string() }))
export const Other = defineMessage("ConformanceOther", z.object({}))
export const Add = defineMessage("ConformanceAdd", z.object({ by: z.number() }))
export const Total = defineMessage("ConformanceTotal", z.object({ value: z.number() }))
/** With fields that are filled in, changed and left out. */
export const Form = defineMessage(
  "ConformanceForm",
  z.object({
    name: z.string().trim(),
    count: z.coerce.number().default(1),
    tags: z.array(z.string()).default(() => ["none"]),
    note: z.string().optional(),
    nested: z.object({ nothing: z.null(), list: z.array(z.array(z.number())) }).optional(),
  }),
)

const MESSAGES = [Say, Said, Other, Add, Total, Form]

export const say = (text: string): ReturnType<typeof Say> => Say({ text })

/** Runtimes that a test has made. */
export interface Stage {
  /** Where agents are registered. */
  readonly home: TestedRuntime
  /** Whence messages are sent; it may be the same. */
  readonly away: TestedRuntime
  readonly start: () => Promise<void>
  /** Registers at home agents that are one function, which takes what is said. */
  readonly agent: (
    type: string,
    handler: Closure<readonly [typeof Say]>,
    options?: RegisterOptions,
  ) => Promise<void>
  readonly register: (type: string, factory: AgentFactory, options?: RegisterOptions) => Promise<void>
}

/** Makes the runtimes of a test, which end when it ends. */
export type OpenStage = (options?: TestedRuntimeOptions) => Promise<Stage>

export interface RuntimeSuite {
  readonly it: (name: string, body: (open: OpenStage) => Promise<void>) => void
}

export function runtimeSuite(runner: TestRunner, subject: RuntimeSubject): RuntimeSuite {
  return {
    it: (name, body) => {
      runner.it(name, async () => {
        const places: RuntimePlace[] = []
        try {
          await body(async (options = {}) => {
            const place = await subject.create({ logger: silentLogger, ...options })
            places.push(place)
            return stageOf(place)
          })
        } finally {
          for (const place of places.toReversed()) await place[Symbol.asyncDispose]()
        }
      })
    },
  }
}

function stageOf({ home, away = home }: RuntimePlace): Stage {
  for (const type of MESSAGES) {
    home.addMessageType(type)
    away.addMessageType(type)
  }
  const register: Stage["register"] = (type, factory, options) => home.register(type, factory, options)
  return {
    home,
    away,
    start: async () => {
      await home.start()
      if (away !== home) await away.start()
    },
    register,
    agent: (type, handler, options) => register(type, () => new ClosureAgent([Say], handler), options),
  }
}

/** A promise that a test opens when it is ready. */
export interface Latch {
  readonly opened: Promise<void>
  readonly open: () => void
}

export function latch(): Latch {
  let resolveIt: (() => void) | undefined
  const opened = new Promise<void>((resolve) => {
    resolveIt = resolve
  })
  return { opened, open: () => resolveIt?.() }
}

/** Waits until something is so that no promise tells of; the runner's time is its bound. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await new Promise((resolve) => {
      setTimeout(resolve, 1)
    })
  }
}

/** What is said of a failure, whatever was thrown: on a wire an error keeps no more. */
export function textOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason)
}
