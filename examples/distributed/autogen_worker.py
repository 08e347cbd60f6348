"""An agent of AutoGen beside ours: python examples/distributed/autogen_worker.py [host address]

pip install autogen-core==0.7.5 'autogen-ext[grpc]==0.7.5'
"""

import asyncio
import sys
from dataclasses import dataclass

from autogen_core import MessageContext, RoutedAgent, message_handler, type_subscription
from autogen_ext.runtimes.grpc import GrpcWorkerAgentRuntime


@dataclass
class Page:
    text: str


@dataclass
class Counted:
    words: int
    by: str


@type_subscription("book")
class PythonCounter(RoutedAgent):
    @message_handler
    async def count(self, message: Page, ctx: MessageContext) -> Counted:
        return Counted(words=len(message.text.split()), by="Python")

    @message_handler
    async def hear(self, message: Counted, ctx: MessageContext) -> None:
        print(f"heard of {message.words} words", flush=True)


async def main() -> None:
    runtime = GrpcWorkerAgentRuntime(*(sys.argv[1:] or ["127.0.0.1:50051"]))
    await runtime.start()
    await PythonCounter.register(runtime, "python_counter", lambda: PythonCounter("Counts in Python."))
    print("connected", flush=True)
    await runtime.stop_when_signal()


asyncio.run(main())
