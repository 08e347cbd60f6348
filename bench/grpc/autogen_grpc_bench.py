"""AutoGen's host and workers for grpc-bench, as the programs of Node beside it: `host`, `callee <host>`, `caller <host>`."""

import asyncio
import json
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.metadata import version
from statistics import median
from typing import Any

from autogen_core import AgentId, MessageContext, RoutedAgent, TopicId, TypeSubscription, message_handler
from autogen_core import try_get_known_serializers_for_type as serializers_of
from autogen_ext.runtimes.grpc import GrpcWorkerAgentRuntime, GrpcWorkerAgentRuntimeHost

IN_FLIGHT = 100
SUBSCRIBERS = 4
CONTENT = "x" * 1024

Command = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
Operation = Callable[[], Awaitable[None]]


@dataclass
class Ask:
    content: str


@dataclass
class Answer:
    content: str


@dataclass
class News:
    content: str


# Made once: the bench measures the runtime.
ASK = Ask(CONTENT)
ANSWER = Answer(CONTENT)
NEWS = News(CONTENT)


class EchoAgent(RoutedAgent):
    def __init__(self) -> None:
        super().__init__("Answers at once.")

    @message_handler
    async def on_ask(self, message: Ask, ctx: MessageContext) -> Answer:
        return ANSWER


class Arrivals:
    """Counts what arrives, and tells when a number is reached."""

    def __init__(self) -> None:
        self.count = 0
        self.awaited = 0
        self.reached = asyncio.Event()

    def add(self) -> None:
        self.count += 1
        if self.count >= self.awaited:
            self.reached.set()

    async def reach(self, count: int) -> None:
        self.awaited = count
        self.reached.clear()
        if self.count < count:
            await self.reached.wait()
        if self.count > count:
            raise RuntimeError(f"{self.count} events arrived, not {count}.")


class Subscriber(RoutedAgent):
    def __init__(self, arrivals: Arrivals) -> None:
        super().__init__("Counts what is published.")
        self._arrivals = arrivals

    @message_handler
    async def on_news(self, message: News, ctx: MessageContext) -> None:
        self._arrivals.add()


def say(fields: dict[str, Any]) -> None:
    print(json.dumps(fields), flush=True)


async def answer_lines(address: str, commands: dict[str, Command]) -> None:
    say({"address": address, "version": version("autogen-core")})
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        fields = json.loads(line)
        say(await commands[fields["do"]](fields))


async def connect(address: str) -> GrpcWorkerAgentRuntime:
    runtime = GrpcWorkerAgentRuntime(address)
    # AutoGen adds what agents handle by itself, and neither what they answer nor what others send.
    for message_type in (Ask, Answer, News):
        runtime.add_message_serializer(serializers_of(message_type))
    await runtime.start()
    return runtime


async def host() -> None:
    # Bound and never listening: gRPC binds beside it, and nobody else can.
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind(("127.0.0.1", 0))
    address = f"127.0.0.1:{held.getsockname()[1]}"
    served = GrpcWorkerAgentRuntimeHost(address)
    served.start()
    await answer_lines(address, {})
    await served.stop(grace=0)


async def callee(address: str) -> None:
    arrivals = Arrivals()
    runtimes = [await connect(address) for _ in range(1 + SUBSCRIBERS)]
    await EchoAgent.register(runtimes[0], "echo", EchoAgent)
    for index, runtime in enumerate(runtimes[1:]):
        name = f"subscriber-{index}"
        await Subscriber.register(runtime, name, lambda: Subscriber(arrivals))
        await runtime.add_subscription(TypeSubscription("bench", name))

    async def received(fields: dict[str, Any]) -> dict[str, Any]:
        await arrivals.reach(fields["count"])
        return {}

    await answer_lines(address, {"received": received})
    for runtime in runtimes:
        await runtime.stop()


async def caller(address: str) -> None:
    runtime = await connect(address)
    one = AgentId("echo", "one")
    many = [AgentId("echo", f"many-{index}") for index in range(IN_FLIGHT)]
    topic = TopicId("bench", "default")

    async def call(agent: AgentId) -> None:
        reply = await runtime.send_message(ASK, agent)
        if len(reply.content) != len(CONTENT):
            raise RuntimeError("A request got another answer than its own.")

    async def serial(fields: dict[str, Any]) -> dict[str, Any]:
        times: list[float] = []
        start = now = time.perf_counter()
        while (now - start) * 1000 < fields["turnMs"]:
            await call(one)
            end = time.perf_counter()
            times.append(end - now)
            now = end
        return {"operations": len(times), "elapsedMs": (now - start) * 1000, "medianUs": median(times) * 1e6}

    async def concurrent(fields: dict[str, Any]) -> dict[str, Any]:
        start = time.perf_counter()
        done = 0

        async def lane(agent: AgentId) -> None:
            nonlocal done
            while (time.perf_counter() - start) * 1000 < fields["turnMs"]:
                await call(agent)
                done += 1

        await asyncio.gather(*(lane(agent) for agent in many))
        return {"operations": done, "elapsedMs": (time.perf_counter() - start) * 1000}

    async def publish(fields: dict[str, Any]) -> dict[str, Any]:
        for _ in range(fields["count"]):
            await runtime.publish_message(NEWS, topic)
        return {}

    await answer_lines(address, {"serial": serial, "concurrent": concurrent, "publish": publish})
    await runtime.stop()


ROLES = {"host": host, "callee": callee, "caller": caller}
asyncio.run(ROLES[sys.argv[1]](*sys.argv[2:]))
