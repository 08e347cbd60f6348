"""AutoGen's worker in its other format. `python protobuf_worker.py <host address> <name>`."""

import asyncio
import sys
from typing import Any

from autogen_core import MessageContext, RoutedAgent, TopicId, TypeSubscription, message_handler
from autogen_ext.runtimes.grpc import GrpcWorkerAgentRuntime
from google.protobuf.wrappers_pb2 import StringValue

from lines import obey, say

address, name = sys.argv[1:3]
runtime = GrpcWorkerAgentRuntime(address, payload_serialization_format="application/x-protobuf")


class Listener(RoutedAgent):
    def __init__(self) -> None:
        super().__init__("Tells the test what it hears.")

    @message_handler
    async def on_value(self, message: StringValue, ctx: MessageContext) -> None:
        say(event="heard", agent=str(self.id), value=message.value)


async def publish(call: dict[str, Any]) -> None:
    await runtime.publish_message(StringValue(value=call["value"]), TopicId.from_str(call["topic"]))


async def main() -> None:
    await runtime.start()
    await Listener.register(runtime, f"{name}-listener", Listener)
    await runtime.add_subscription(TypeSubscription("values", f"{name}-listener"))
    say(event="ready")
    await obey({"publish": publish})
    await runtime.stop()


asyncio.run(main())
