"""ASGI applications, each with one trait."""
import asyncio
import hashlib
import time


async def _answer(send, body=b"<p>Hello, world!</p>"):
    headers = [(b"content-type", b"text/html"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def hello(scope, receive, send):
    if scope["type"] == "http":
        await _answer(send)


def _compute():
    digest = b"torr"
    for _ in range(2000):
        digest = hashlib.md5(digest).digest()
    return digest.hex().encode()


async def compute(scope, receive, send):
    """Computes in a thread of the pool, as a synchronous handler of FastAPI does: the interpreter lets one at a time run."""
    if scope["type"] == "http":
        await _answer(send, await asyncio.get_running_loop().run_in_executor(None, _compute))


_lock = asyncio.Lock()


async def one_at_a_time(scope, receive, send):
    if scope["type"] == "http":
        async with _lock:
            await asyncio.sleep(0.005)
        await _answer(send)


async def all_at_a_time(scope, receive, send):
    """Waits as one_at_a_time does, without its lock."""
    if scope["type"] == "http":
        await asyncio.sleep(0.005)
        await _answer(send)


async def blocks(scope, receive, send):
    """Calls something that blocks, and the event loop with it."""
    if scope["type"] == "http":
        time.sleep(0.005)
        await _answer(send)
