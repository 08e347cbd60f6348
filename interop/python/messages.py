"""The messages that both languages know, by the names of these classes."""

from dataclasses import dataclass

from pydantic import BaseModel


class Detail(BaseModel):
    level: int
    note: str | None = None


class Ask(BaseModel):
    text: str
    details: list[Detail] = []


class Answer(BaseModel):
    text: str
    by: str
    sender: str
    details: list[Detail] = []


@dataclass
class Reading:
    sensor: str
    value: float
    good: bool


class Walk(BaseModel):
    """Goes from agent to agent; each sends it on and answers with the steps behind it."""

    path: list[str]
    step: int = 0


class Trail(BaseModel):
    steps: list[str]


class Unheard(BaseModel):
    """No agent handles it, so no worker that does not send it can read it."""

    text: str


TYPES = {cls.__name__: cls for cls in (Ask, Answer, Reading, Walk, Trail, Unheard)}
