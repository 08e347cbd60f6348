"""Measures AutoGen's teams the way chat-bench measures ours; prints one line of JSON."""

import asyncio
import gc
import json
import time
import tracemalloc
from importlib.metadata import version
from statistics import median

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.messages import TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core.model_context import BufferedChatCompletionContext
from autogen_ext.models.replay import ReplayChatCompletionClient

SHOWN = 10
TASK = "Talk about glass until somebody stops you."
ANSWER = "Glass is an amorphous solid, and what is said of it here is always the same."
TURNS = 100
RATE_ROUNDS = 5
SIZES = [100, 1_000, 10_000]
# One conversation: to its end it takes minutes.
GROWTH_ROUNDS = 1
BLOCK = 100
MEMORY_MESSAGES = 1_000


class EndlessClient(ReplayChatCompletionClient):
    """Says the same again and again, and remembers no call."""

    def _forget(self) -> None:
        self._current_index = 0
        self._create_calls.clear()

    async def create(self, *args, **kwargs):
        self._forget()
        return await super().create(*args, **kwargs)


def two_agents(turns: int) -> RoundRobinGroupChat:
    agents = [
        AssistantAgent(
            name,
            model_client=EndlessClient([ANSWER]),
            model_context=BufferedChatCompletionContext(buffer_size=SHOWN),
        )
        for name in ("ada", "bob")
    ]
    return RoundRobinGroupChat(agents, termination_condition=MaxMessageTermination(turns + 1))


async def measure_rate() -> float:
    team = two_agents(TURNS)
    rates = []
    # The first one only warms up.
    for _ in range(RATE_ROUNDS + 1):
        start = time.perf_counter()
        result = await team.run(task=TASK)
        rates.append(TURNS / (time.perf_counter() - start))
        if len(result.messages) != TURNS + 1:
            raise RuntimeError(f"A run had {len(result.messages)} messages.")
        await team.reset()
    return median(rates[1:])


async def times_of_messages() -> list[float]:
    team = two_agents(max(SIZES) + BLOCK)
    times = []
    async for item in team.run_stream(task=TASK):
        if isinstance(item, TextMessage):
            times.append(time.perf_counter())
    return times


async def measure_growth() -> list[dict[str, float]]:
    costs: dict[int, list[float]] = {size: [] for size in SIZES}
    for _ in range(GROWTH_ROUNDS):
        times = await times_of_messages()
        for size, samples in costs.items():
            took = times[size + BLOCK // 2] - times[size - BLOCK // 2]
            samples.append(took * 1_000_000 / BLOCK)
    return [{"messages": size, "medianUs": median(samples)} for size, samples in costs.items()]


async def measure_bytes() -> float:
    team = two_agents(MEMORY_MESSAGES - 1)
    await team.run(task=TASK)
    tracemalloc.start()
    await team.run(task=TASK)
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return kept / MEMORY_MESSAGES


async def main() -> None:
    numbers = {
        "version": version("autogen-agentchat"),
        "turnsPerSecond": await measure_rate(),
        "growth": await measure_growth(),
        "bytesPerMessage": await measure_bytes(),
    }
    print(json.dumps(numbers))


asyncio.run(main())
