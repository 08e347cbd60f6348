"""The agents of a worker. Its TypeScript twin, `glovebox-agents.ts`, has the same."""

import asyncio
from dataclasses import asdict

from autogen_core import AgentId, MessageContext, RoutedAgent, message_handler
from pydantic import BaseModel

from lines import say
from messages import Answer, Ask, Reading, Trail, Walk


def fields_of(message: object) -> object:
    if isinstance(message, BaseModel):
        return message.model_dump()
    return asdict(message) if isinstance(message, Reading) else repr(message)


class Echo(RoutedAgent):
    def __init__(self) -> None:
        super().__init__("Answers with what it was asked.")

    @message_handler
    async def on_ask(self, message: Ask, ctx: MessageContext) -> Answer:
        sender = "" if ctx.sender is None else str(ctx.sender)
        return Answer(text=message.text, by=str(self.id), sender=sender, details=message.details)

    @message_handler
    async def on_reading(self, message: Reading, ctx: MessageContext) -> Reading:
        return Reading(sensor=message.sensor, value=message.value * 2, good=not message.good)


class Trouble(RoutedAgent):
    def __init__(self) -> None:
        super().__init__("Does what the text says.")

    @message_handler
    async def on_ask(self, message: Ask, ctx: MessageContext) -> Answer | None:
        what, _, text = message.text.partition(":")
        if what == "fail":
            raise ValueError(text)
        if what == "fail without text":
            raise ValueError()
        if what == "wait":
            say(event="waiting", agent=str(self.id))
            await asyncio.Event().wait()
        return None


class Walker(RoutedAgent):
    def __init__(self) -> None:
        super().__init__("Sends a walk on to the next agent of its path.")

    @message_handler
    async def on_walk(self, message: Walk, ctx: MessageContext) -> Trail:
        if message.step == len(message.path):
            return Trail(steps=[str(self.id)])
        target = AgentId.from_str(message.path[message.step])
        rest = await self.send_message(Walk(path=message.path, step=message.step + 1), target)
        return Trail(steps=[str(self.id), *rest.steps])


class Listener(RoutedAgent):
    def __init__(self) -> None:
        super().__init__("Tells the test what it hears.")

    def _tell(self, message: object, ctx: MessageContext) -> None:
        topic = None if ctx.topic_id is None else str(ctx.topic_id)
        sender = None if ctx.sender is None else str(ctx.sender)
        say(
            event="heard",
            agent=str(self.id),
            message=fields_of(message),
            type=type(message).__name__,
            topic=topic,
            sender=sender,
            id=ctx.message_id,
        )

    @message_handler
    async def on_ask(self, message: Ask, ctx: MessageContext) -> None:
        self._tell(message, ctx)
        if message.text == "fail":
            raise ValueError("a listener failed")

    @message_handler
    async def on_reading(self, message: Reading, ctx: MessageContext) -> None:
        self._tell(message, ctx)


def broken() -> Echo:
    raise RuntimeError("no parts left")
