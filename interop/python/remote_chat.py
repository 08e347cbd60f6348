"""AutoGen's chat agents in teams of Glovebox, and those of Glovebox in teams of AutoGen.

The messages are those that `RemoteChatAgent` and `serveChatAgent` of `glovebox/chat` send to each other.
"""

import json
import re
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import ChatAgent, Response
from autogen_agentchat.messages import (
    BaseAgentEvent,
    BaseChatMessage,
    MessageFactory,
    ModelClientStreamingChunkEvent,
    TextMessage,
)
from autogen_core import AgentId, AgentRuntime, CancellationToken, MessageContext, RoutedAgent, message_handler
from autogen_core import try_get_known_serializers_for_type as serializers_of
from pydantic import BaseModel

Item = BaseChatMessage | BaseAgentEvent


class Address(BaseModel):
    type: str
    key: str


class RemoteChatTurn(BaseModel):
    messages: list[dict[str, Any]]
    retry: bool = False
    turn: str
    output: Address | None = None


class RemoteChatItem(BaseModel):
    turn: str
    item: dict[str, Any]


class RemoteChatResponse(BaseModel):
    message: dict[str, Any]
    items: list[dict[str, Any]] | None = None


class RemoteChatReset(BaseModel):
    pass


class RemoteChatPause(BaseModel):
    paused: bool


class Done(BaseModel):
    """AutoGen sends no answer when a handler returns None."""


def add_remote_chat(runtime: AgentRuntime) -> None:
    for cls in (RemoteChatTurn, RemoteChatItem, RemoteChatResponse, RemoteChatReset, RemoteChatPause, Done):
        runtime.add_message_serializer(serializers_of(cls))


def to_glovebox(item: Item) -> dict[str, Any]:
    return _rename(json.loads(item.model_dump_json()), lambda name: re.sub(r"_(\w)", lambda m: m[1].upper(), name))


def from_glovebox(item: dict[str, Any]) -> Item:
    return MessageFactory().create(_rename(item, lambda name: re.sub(r"[A-Z]", lambda m: "_" + m[0].lower(), name)))


def _rename(value: Any, rename: Any) -> Any:
    if isinstance(value, list):
        return [_rename(each, rename) for each in value]
    if not isinstance(value, dict):
        return value
    # What is in the metadata is the user's; a field that is left out means the same as none.
    return {
        rename(name): each if name == "metadata" else _rename(each, rename)
        for name, each in value.items()
        if each is not None
    }


class ServedChatAgent(RoutedAgent):
    """Serves an AutoGen agent to a team elsewhere, which has a `RemoteChatAgent` in its place."""

    def __init__(self, agent: ChatAgent) -> None:
        super().__init__(agent.description)
        self._agent = agent

    @message_handler
    async def on_turn(self, message: RemoteChatTurn, ctx: MessageContext) -> RemoteChatResponse:
        heard = [from_glovebox(each) for each in message.messages]
        items: list[dict[str, Any]] = []
        async for item in self._agent.on_messages_stream(heard, ctx.cancellation_token):
            if isinstance(item, Response):
                return RemoteChatResponse(message=to_glovebox(item.chat_message), items=items)
            told = to_glovebox(item)
            if not isinstance(item, ModelClientStreamingChunkEvent):
                items.append(told)
            if message.output is not None:
                output = AgentId(message.output.type, message.output.key)
                await self.send_message(RemoteChatItem(turn=message.turn, item=told), output)
        raise RuntimeError(f"{self._agent.name} ended without an answer.")

    @message_handler
    async def on_reset(self, message: RemoteChatReset, ctx: MessageContext) -> Done:
        await self._agent.on_reset(ctx.cancellation_token)
        return Done()

    @message_handler
    async def on_pause(self, message: RemoteChatPause, ctx: MessageContext) -> Done:
        await (self._agent.on_pause if message.paused else self._agent.on_resume)(ctx.cancellation_token)
        return Done()


class RemoteChatAgent(BaseChatAgent):
    """Stands in a team of AutoGen for an agent that `serveChatAgent` serves."""

    def __init__(self, name: str, runtime: AgentRuntime, agent_id: AgentId) -> None:
        super().__init__(name, "An agent elsewhere.")
        self._runtime = runtime
        self._agent_id = agent_id

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (TextMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        turn = RemoteChatTurn(messages=[to_glovebox(each) for each in messages], turn=str(uuid4()))
        reply = await self._runtime.send_message(turn, self._agent_id)
        said = from_glovebox(reply.message)
        assert isinstance(said, BaseChatMessage)
        return Response(chat_message=said, inner_messages=[from_glovebox(each) for each in reply.items or []])

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        await self._runtime.send_message(RemoteChatReset(), self._agent_id)
