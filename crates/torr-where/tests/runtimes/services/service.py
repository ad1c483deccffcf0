"""A service with known places: a function that computes, a lock that is held during a pause, a semaphore."""
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCK = threading.Lock()
POOL = threading.Semaphore(1)


def hot():
    total = 0
    for number in range(60_000):  # so long that what the server does beside it is a small part
        total += number * number % 7
    return total


def hold():
    time.sleep(0.02)


def locked():
    with LOCK:
        hold()


def pooled():
    with POOL:
        hold()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        {"/hot": hot, "/locked": locked, "/pooled": pooled}[self.path]()
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
