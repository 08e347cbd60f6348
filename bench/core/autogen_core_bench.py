"""Measures AutoGen's in-process runtime the way core-bench measures ours; prints one line of JSON."""

import asyncio
import json
import time
from dataclasses import dataclass
from importlib.metadata import version
from statistics import median
from typing import Awaitable, Callable

from autogen_core import (
    AgentId,
    MessageContext,
    RoutedAgent,
    SingleThreadedAgentRuntime,
    TopicId,
    TypeSubscription,
    message_handler,
)

BATCH = 100
CONCURRENCY = 100
SUBSCRIBERS = 4
WARM_UP_SECONDS = 0.3
ROUNDS = 3
ROUND_SECONDS = 0.4


@dataclass
class Ask:
    content: str


@dataclass
class Answer:
    content: str


# Made once: the bench measures the runtime.
ASK = Ask("ping")
ANSWER = Answer("pong")


class EchoAgent(RoutedAgent):
    def __init__(self) -> None:
        super().__init__("Answers at once.")
        self.asked = 0

    @message_handler
    async def on_ask(self, message: Ask, ctx: MessageContext) -> Answer:
        self.asked += 1
        return ANSWER


class Inbox:
    """Counts what arrives, and tells when a number is reached."""

    def __init__(self) -> None:
        self.received = 0
        self.expected = 0
        self.complete = asyncio.Event()

    def expect(self, count: int) -> None:
        self.expected += count
        self.complete.clear()

    def add(self) -> None:
        self.received += 1
        if self.received == self.expected:
            self.complete.set()


class Subscriber(RoutedAgent):
    def __init__(self, inbox: Inbox) -> None:
        super().__init__("Counts what is published.")
        self._inbox = inbox

    @message_handler
    async def on_ask(self, message: Ask, ctx: MessageContext) -> None:
        self._inbox.add()


async def measure(batch: Callable[[], Awaitable[int]]) -> float:
    await rate_of(batch, WARM_UP_SECONDS)
    return median([await rate_of(batch, ROUND_SECONDS) for _ in range(ROUNDS)])


async def rate_of(batch: Callable[[], Awaitable[int]], seconds: float) -> float:
    start = time.perf_counter()
    operations = 0
    elapsed = 0.0
    while elapsed < seconds:
        operations += await batch()
        elapsed = time.perf_counter() - start
    return operations / elapsed


def check_answer(reply: object) -> None:
    if reply is not ANSWER:
        raise RuntimeError("A request got another answer than its own.")


async def measure_requests() -> dict[str, float]:
    runtime = SingleThreadedAgentRuntime()
    await EchoAgent.register(runtime, "echo", EchoAgent)
    runtime.start()
    one = AgentId("echo", "default")
    many = [AgentId("echo", str(index)) for index in range(CONCURRENCY)]

    async def serial() -> int:
        for _ in range(BATCH):
            check_answer(await runtime.send_message(ASK, one))
        return BATCH

    async def concurrent() -> int:
        for reply in await asyncio.gather(*(runtime.send_message(ASK, agent) for agent in many)):
            check_answer(reply)
        return CONCURRENCY

    rates = {"serialPerSecond": await measure(serial), "concurrentPerSecond": await measure(concurrent)}
    await runtime.stop()
    return rates


async def measure_publish() -> dict[str, float]:
    runtime = SingleThreadedAgentRuntime()
    inbox = Inbox()
    for index in range(SUBSCRIBERS):
        name = f"subscriber-{index}"
        await Subscriber.register(runtime, name, lambda: Subscriber(inbox))
        await runtime.add_subscription(TypeSubscription("bench", name))
    runtime.start()
    topic = TopicId("bench", "default")

    async def publish() -> int:
        inbox.expect(BATCH * SUBSCRIBERS)
        for _ in range(BATCH):
            await runtime.publish_message(ASK, topic)
        await inbox.complete.wait()
        return BATCH * SUBSCRIBERS

    rates = {"deliveriesPerSecond": await measure(publish)}
    await runtime.stop()
    return rates


async def main() -> None:
    rates = await measure_requests() | await measure_publish()
    print(json.dumps({"version": version("autogen-core"), **rates}))


asyncio.run(main())
