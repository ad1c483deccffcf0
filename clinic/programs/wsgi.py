"""WSGI applications, each with one trait."""
import hashlib
import time


def _answer(start_response, body=b"<p>Hello, world!</p>"):
    start_response("200 OK", [("Content-Type", "text/html"), ("Content-Length", str(len(body)))])
    return [body]


def hello(environ, start_response):
    return _answer(start_response)


def nap(environ, start_response):
    time.sleep(0.005)
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
