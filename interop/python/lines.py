"""Talks to the test that started this program: one JSON object per line, in and out."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

Command = Callable[[dict[str, Any]], Awaitable[Any]]


def say(**fields: Any) -> None:
    print(json.dumps(fields), flush=True)


async def _answer(command: Command, call: dict[str, Any]) -> None:
    try:
        say(call=call["call"], value=await command(call))
    except BaseException as error:
        say(call=call["call"], error={"text": str(error)})


async def obey(commands: dict[str, Command]) -> None:
    """Runs commands, several at a time, until the test closes the pipe."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=2**26)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    running: set[asyncio.Task[None]] = set()
    while line := await reader.readline():
        call = json.loads(line)
        task = asyncio.create_task(_answer(commands[call["do"]], call))
        running.add(task)
        task.add_done_callback(running.discard)
