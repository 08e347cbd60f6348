import { RoutedAgent, topicId, typeSubscription } from "glovebox/core"
import { GrpcWorkerAgentRuntime } from "glovebox/runtimes/grpc"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startAutogenProgram } from "./autogen-program.ts"
import { disposeAll } from "./dispose-all.ts"
import { EventLog } from "./event-log.ts"
import { type HostKind, type StartedHost, startHost } from "./hosts.ts"
import type { LineProgram } from "./line-program.ts"
import { StringValue, stringValueSerializer } from "./string-value.ts"

class Listener extends RoutedAgent {
  constructor(events: EventLog) {
    super("Tells the test what it hears.")
    this.on(StringValue, ({ value }) => events.add({ event: "heard", value }))
  }
}

describe.each<HostKind>(["autogen", "glovebox"])("protobuf messages on the host of %s", (kind) => {
  const heard = new EventLog()
  let host: StartedHost
  let py: LineProgram
  let ts: GrpcWorkerAgentRuntime

  beforeAll(async () => {
    host = await startHost(kind)
    py = startAutogenProgram("protobuf_worker.py", host.address, "py")
    ts = new GrpcWorkerAgentRuntime({
      hostAddress: host.address,
      payloadSerializationFormat: "application/x-protobuf",
    })
    ts.serialization.add(stringValueSerializer)
    await ts.start()
    await ts.register("ts-listener", () => new Listener(heard), {
      subscriptions: [typeSubscription("values")],
    })
    await py.events.take({ event: "ready" })
  })

  afterAll(async () => {
    await ts?.close()
    await disposeAll(py, host)
  })

  test("AutoGen's reach AutoGen's and our agents", async () => {
    await py.call("publish", { value: "from Python ü", topic: "values/s" })
    expect(await py.events.take({ event: "heard" })).toMatchObject({ value: "from Python ü" })
    expect(await heard.take({ event: "heard" })).toMatchObject({ value: "from Python ü" })
  })

  test("ours reach AutoGen's and our agents", async () => {
    await ts.publish(StringValue({ value: "from TypeScript ü" }), topicId("values", "s"))
    expect(await py.events.take({ event: "heard" })).toMatchObject({ value: "from TypeScript ü" })
    expect(await heard.take({ event: "heard" })).toMatchObject({ value: "from TypeScript ü" })
  })
})
