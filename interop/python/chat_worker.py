"""Serves an AssistantAgent, and runs a team of AutoGen's. `python chat_worker.py <host address>`."""

import asyncio
import sys
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import AgentId, FunctionCall
from autogen_core.models import CreateResult, ModelFamily, ModelInfo, RequestUsage
from autogen_ext.models.replay import ReplayChatCompletionClient
from autogen_ext.runtimes.grpc import GrpcWorkerAgentRuntime

from lines import obey, say
from remote_chat import RemoteChatAgent, ServedChatAgent, add_remote_chat, to_glovebox

runtime = GrpcWorkerAgentRuntime(sys.argv[1])
INFO = ModelInfo(vision=False, function_calling=True, json_output=False, family=ModelFamily.UNKNOWN, structured_output=False)


class Model(ReplayChatCompletionClient):
    """Tells the test what it was asked."""

    async def create(self, messages: Any, **options: Any) -> CreateResult:
        say(event="asked", contents=[each.content for each in messages if isinstance(each.content, str)])
        return await super().create(messages, **options)


def price_of(fruit: str) -> str:
    """The price of a fruit."""
    return f"{fruit} costs 3"


def clerk() -> AssistantAgent:
    usage = RequestUsage(prompt_tokens=11, completion_tokens=7)
    call = FunctionCall(id="c1", name="price_of", arguments='{"fruit": "plum"}')
    model = Model(
        [
            CreateResult(finish_reason="function_calls", content=[call], usage=usage, cached=False),
            "Agreed.",
            "More?",
        ],
        model_info=INFO,
    )
    return AssistantAgent("clerk", model, tools=[price_of], description="Knows prices.")


async def run_team(call: dict[str, Any]) -> Any:
    remote = RemoteChatAgent("poet", runtime, AgentId.from_str(call["agent"]))
    local = AssistantAgent("critic", Model(["It rhymes.", "Still does."], model_info=INFO))
    team = RoundRobinGroupChat([remote, local], termination_condition=MaxMessageTermination(5))
    result = await team.run(task=call["task"])
    await team.reset()
    return [to_glovebox(message) for message in result.messages]


async def main() -> None:
    add_remote_chat(runtime)
    await runtime.start()
    await runtime.register_factory("clerk", lambda: ServedChatAgent(clerk()))
    say(event="ready")
    await obey({"run_team": run_team})
    await runtime.stop()


asyncio.run(main())
