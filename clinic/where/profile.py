"""The customers' profiles: python3 profile.py HOST PORT. An asyncio server whose handler reads a profile with a call that blocks
the event loop for HELD_US microseconds.
"""

import asyncio
import os
import sys
import time

HELD_US = int(os.environ.get("HELD_US", 4000))


def read_profile(customer):
    """Reads a profile from a slow store."""
    time.sleep(HELD_US / 1e6)  # clinic: profile
    return f"customer {customer}\n"


async def profile(customer):
    """Returns the page of a customer."""
    return read_profile(customer)  # clinic: profile-caller


async def serve(reader, writer):
    """Serves a connection until the client closes it."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1]
            known = path in (b"/", b"/profile")
            text = "a shop\n" if path == b"/" else await profile(7) if known else "not found\n"
            status = "200 OK" if known else "404 Not Found"
            closes = b"connection: close" in head.lower()
            close = "Connection: close\r\n" if closes else ""
            content = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(text)}\r\n{close}\r\n{text}"
            writer.write(content.encode())
            await writer.drain()
            if closes:
                break
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()


async def main(host, port):
    server = await asyncio.start_server(serve, host, port, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: profile.py HOST PORT")
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
