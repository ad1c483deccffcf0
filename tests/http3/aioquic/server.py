"""A server of HTTP/3 by aioquic, for the tests of the load side: python server.py FOLDER [retry] [keys] [narrow] [version2]

The folder has its certificate and key. It responds to each path as its name says, counts what it receives, and prints
its address first. With each byte of its input it prints, once all connections have ended, what it has received; the end
of the input ends it. `retry` validates each client's address first, `keys` changes the keys of a connection with every
tenth request, `narrow` has windows of few datagrams, `version2` has only version 2 of QUIC."""

import asyncio
import hashlib
import json
import os
import signal
import sys
from collections import Counter

from aioquic.asyncio import QuicConnectionProtocol
from aioquic.asyncio.server import QuicServer
from aioquic.h3.connection import H3_ALPN, ErrorCode, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, HandshakeCompleted
from aioquic.quic.packet import QuicProtocolVersion

# Seconds, of the whole program.
PATIENCE = 120
# The requests of a connection after which its keys change.
CHANGE = 10

folder, *flags = sys.argv[1:]
requests, closed, count = Counter(), Counter(), Counter()
all_closed = asyncio.Event()


class Connection(QuicConnectionProtocol):
    def __init__(self, quic, stream_handler=None):
        super().__init__(quic)
        self.http = H3Connection(quic)
        self.fields, self.content, self.requests = {}, {}, 0

    def quic_event_received(self, event):
        if isinstance(event, HandshakeCompleted):
            count["connections"] += 1
            count["resumed"] += event.session_resumed
        if isinstance(event, ConnectionTerminated):
            closed[f"{event.error_code:#x} {event.reason_phrase}".strip()] += 1
            if closed.total() == count["connections"]:
                all_closed.set()
        for part in self.http.handle_event(event):
            stream = part.stream_id
            if isinstance(part, HeadersReceived):
                self.fields[stream] = part.headers
                self.content[stream] = bytearray()
            if isinstance(part, DataReceived):
                self.content[stream] += part.data
            if part.stream_ended:
                self.respond(stream, self.fields.pop(stream), bytes(self.content.pop(stream)))

    def respond(self, stream, fields, content):
        fields = [(name.decode(), value.decode()) for name, value in fields]
        sum256 = hashlib.sha256(content).hexdigest()[:16]
        line = " | ".join(f"{name}: {value}" for name, value in fields)
        requests[f"{line} | {len(content)} {sum256}"] += 1
        self.requests += 1
        if "keys" in flags and self.requests % CHANGE == 0:
            count["keys"] += 1
            self.request_key_update()
        _, kind, *rest = dict(fields)[":path"].split("/")
        if kind == "bytes":
            self.send(stream, 200, [bytes(int(rest[0]))])
        elif kind == "status":
            self.send(stream, int(rest[0]), [b"as you like"])
        elif kind == "chunks":
            self.send(stream, 200, [b"x" * 1000] * 5, has_length=False)
        elif kind == "reset":
            self._quic.reset_stream(stream, ErrorCode.H3_INTERNAL_ERROR)
        elif kind == "echo":
            self.send(stream, 200, [content])
        elif kind != "never":
            self.send(stream, 200, [b"hello"])

    def send(self, stream, status, pieces, has_length=True):
        fields = [(b":status", str(status).encode())]
        if has_length:
            fields.append((b"content-length", str(sum(map(len, pieces))).encode()))
        self.http.send_headers(stream, fields)
        for piece in pieces:
            self.http.send_data(stream, piece, end_stream=False)
        self.http.send_data(stream, b"", end_stream=True)


async def main():
    versions = [QuicProtocolVersion.VERSION_2 if "version2" in flags else QuicProtocolVersion.VERSION_1]
    windows = {"max_data": 6000, "max_stream_data": 3000} if "narrow" in flags else {}
    # Torr says when a connection ends; the time-out is for those that were lost.
    configuration = QuicConfiguration(
        is_client=False, alpn_protocols=H3_ALPN, supported_versions=versions, idle_timeout=20.0, **windows
    )
    configuration.load_cert_chain(f"{folder}/server.pem", f"{folder}/server.key")
    tickets = {}
    make = lambda: QuicServer(
        configuration=configuration,
        create_protocol=Connection,
        session_ticket_fetcher=tickets.get,
        session_ticket_handler=lambda ticket: tickets.__setitem__(ticket.ticket, ticket),
        retry="retry" in flags,
    )
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(make, local_addr=("127.0.0.1", 0))
    print("{}:{}".format(*transport.get_extra_info("sockname")), flush=True)
    while await loop.run_in_executor(None, os.read, 0, 1):
        if closed.total() < count["connections"]:
            all_closed.clear()
            await all_closed.wait()
        print(json.dumps({"requests": requests, "closed": closed, **count}), flush=True)


# The end of the input ends the program; this does if something hangs.
signal.alarm(PATIENCE)
asyncio.run(main())
