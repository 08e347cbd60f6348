"""AutoGen's worker. `python worker.py <host address> <name>`; its agents' types begin with the name."""

import asyncio
import sys
from typing import Any

from autogen_core import AgentId, TopicId, TypePrefixSubscription, TypeSubscription, UnknownPayload
from autogen_core import try_get_known_serializers_for_type as serializers_of
from autogen_ext.runtimes.grpc import GrpcWorkerAgentRuntime
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import agents
from lines import obey, say
from messages import TYPES, Answer, Reading, Trail

address, name = sys.argv[1:3]
exporter = InMemorySpanExporter()
tracing = TracerProvider()
tracing.add_span_processor(SimpleSpanProcessor(exporter))
runtime = GrpcWorkerAgentRuntime(address, tracer_provider=tracing)


def read(call: dict[str, Any]) -> Any:
    cls = TYPES[call["type"]]
    runtime.add_message_serializer(serializers_of(cls))
    return cls(**call["message"])


def sender_of(call: dict[str, Any]) -> AgentId | None:
    return AgentId.from_str(call["sender"]) if call.get("sender") else None


async def send(call: dict[str, Any]) -> Any:
    reply = await runtime.send_message(read(call), AgentId.from_str(call["to"]), sender=sender_of(call))
    if isinstance(reply, UnknownPayload):
        return {"type": "UnknownPayload", "message": {"type_name": reply.type_name}}
    return {"type": type(reply).__name__, "message": agents.fields_of(reply)}


async def publish(call: dict[str, Any]) -> None:
    await runtime.publish_message(read(call), TopicId.from_str(call["topic"]), sender=sender_of(call))


async def register(call: dict[str, Any]) -> None:
    await agents.Echo.register(runtime, call["type"], agents.Echo)


async def subscribe(call: dict[str, Any]) -> None:
    await runtime.add_subscription(TypeSubscription(call["topic"], call["agent"], id=call["id"]))


async def unsubscribe(call: dict[str, Any]) -> None:
    await runtime.remove_subscription(call["id"])


async def spans(call: dict[str, Any]) -> Any:
    return [
        {
            "name": span.name,
            "trace": f"{span.context.trace_id:032x}",
            "span": f"{span.context.span_id:016x}",
            "links": [f"{link.context.trace_id:032x}" for link in span.links],
        }
        for span in exporter.get_finished_spans()
    ]


async def main() -> None:
    # AutoGen adds what agents handle by itself, and not what they answer.
    for answer in (Answer, Reading, Trail):
        runtime.add_message_serializer(serializers_of(answer))
    await runtime.start()
    await agents.Echo.register(runtime, f"{name}-echo", agents.Echo)
    await agents.Trouble.register(runtime, f"{name}-trouble", agents.Trouble)
    await agents.Walker.register(runtime, f"{name}-walker", agents.Walker)
    await agents.Listener.register(runtime, f"{name}-listener", agents.Listener)
    await agents.Listener.register(runtime, f"{name}-prefix-listener", agents.Listener)
    await runtime.add_subscription(TypeSubscription("news", f"{name}-listener"))
    await runtime.add_subscription(TypePrefixSubscription("weather.", f"{name}-prefix-listener"))
    await runtime.register_factory(f"{name}-broken", agents.broken)
    say(event="ready")
    await obey(
        {
            "send": send,
            "publish": publish,
            "register": register,
            "subscribe": subscribe,
            "unsubscribe": unsubscribe,
            "spans": spans,
        }
    )
    await runtime.stop()


asyncio.run(main())
