"""AutoGen's host. `python host.py [address]`; without an address it takes a free port."""

import asyncio
import socket
import sys

from autogen_ext.runtimes.grpc import GrpcWorkerAgentRuntimeHost

from lines import obey, say


def reserve_port() -> socket.socket:
    # Bound and never listening: gRPC binds beside it, nobody else can, and no connection comes here.
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind(("127.0.0.1", 0))
    return held


async def main() -> None:
    held = reserve_port() if len(sys.argv) < 2 else None
    address = sys.argv[1] if held is None else f"127.0.0.1:{held.getsockname()[1]}"
    host = GrpcWorkerAgentRuntimeHost(address)
    host.start()
    say(event="ready", address=address)
    await obey({})
    await host.stop(grace=0)


asyncio.run(main())
