"""WSGI applications, each with one trait."""
import hashlib
import http.client
import os
import socket
import struct
import time


def _answer(start_response, body=b"<p>Hello, world!</p>"):
    start_response("200 OK", [("Content-Type", "text/html"), ("Content-Length", str(len(body)))])
    return [body]


def hello(environ, start_response):
    return _answer(start_response)


def nap(environ, start_response):
    time.sleep(0.005)
    return _answer(start_response)


def relay(environ, start_response):
    """Calls the service at $UPSTREAM, HOST:PORT, and passes its page on."""
    upstream = http.client.HTTPConnection(os.environ["UPSTREAM"])
    upstream.request("GET", "/")
    page = upstream.getresponse().read()
    upstream.close()
    return _answer(start_response, page)


def resolve(environ, start_response):
    """Resolves a name by a query of its own to the server at port 53, as a resolver without a cache does."""
    name = b"".join(struct.pack("B", len(part)) + part for part in (b"orders", b"internal")) + b"\0"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as resolver:
        resolver.connect((os.environ["NAMESERVER"], 53))
        resolver.send(struct.pack("!6H", os.getpid() & 0xFFFF, 0x0100, 1, 0, 0, 0) + name + struct.pack("!2H", 1, 1))
        resolver.recv(512)
    return _answer(start_response)


def _compute(start_response, rounds):
    digest = b"torr"
    for _ in range(rounds):
        digest = hashlib.md5(digest).digest()
    return _answer(start_response, digest.hex().encode())


def compute(environ, start_response):
    return _compute(start_response, 5000)


def compute_half(environ, start_response):
    return _compute(start_response, 2500)
