"""A client of HTTP/3 by aioquic, for the tests of the server's side: python client.py CERTIFICATE URL PART...

Each part has connections of its own, and prints its name if all went well. Any other outcome ends the program with an
error."""

import asyncio
import random
import signal
import ssl
import sys
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from aioquic.asyncio import QuicConnectionProtocol
from aioquic.h3.connection import H3_ALPN, ErrorCode, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import ConnectionTerminated, HandshakeCompleted, StreamDataReceived, StreamReset
from aioquic.quic.logger import QuicLogger
from aioquic.quic.packet import QuicProtocolVersion

# Seconds, of all parts.
PATIENCE = 50
LARGE = 10_000_000
# The bytes of a response after which the client changes its keys or its address.
CHANGE = 1_000_000
HELLO = b"<p>Hello, world!</p>"
# A version that is reserved so that servers have to negotiate (RFC 9000, section 15).
RESERVED = 0x1A2A3A4A


def must(holds, *what):
    if not holds:
        print(*what, file=sys.stderr)
        sys.exit(1)


class Client(QuicConnectionProtocol):
    """A connection, whose requests are futures by their streams."""

    def __init__(self, quic, authority):
        super().__init__(quic)
        self.http = H3Connection(quic)
        self.authority = authority
        self.handshake = None
        self.ended = None
        self.unanswered = {}
        self.left = set()
        self.fields = {}
        self.content = {}
        # Called with each piece of content.
        self.receives = lambda length: None

    def request(self, path, content=None):
        """Begins a request, and returns the future of its content."""
        return self.unanswered[self.begin(path, content)]

    def begin(self, path, content=None):
        stream = self._quic.get_next_available_stream_id()
        method = "GET" if content is None else "POST"
        fields = {":method": method, ":scheme": "https", ":authority": self.authority, ":path": path}
        if content is not None:
            fields["content-length"] = str(len(content))
        fields = [(name.encode(), value.encode()) for name, value in fields.items()]
        self.unanswered[stream] = asyncio.get_running_loop().create_future()
        self.content[stream] = bytearray()
        self.http.send_headers(stream, fields, end_stream=content is None)
        if content is not None:
            self.http.send_data(stream, content, end_stream=True)
        self.transmit()
        return stream

    def leave(self, stream, code):
        """Sends and receives no more of a request."""
        del self.unanswered[stream]
        self.left.add(stream)
        self._quic.stop_stream(stream, code)
        self._quic.reset_stream(stream, code)
        self.transmit()

    def quic_event_received(self, event):
        if isinstance(event, HandshakeCompleted):
            self.handshake = event
        if isinstance(event, ConnectionTerminated):
            self.ended = event
        if isinstance(event, (StreamDataReceived, StreamReset)) and event.stream_id in self.left:
            return
        if isinstance(event, (ConnectionTerminated, StreamReset)):
            for future in self.unanswered.values():
                future.set_exception(RuntimeError(str(event)))
            self.unanswered.clear()
        for part in self.http.handle_event(event):
            stream = part.stream_id
            if isinstance(part, HeadersReceived):
                must(stream not in self.fields, "a second header section", part)
                self.fields[stream] = dict(part.headers)
            if isinstance(part, DataReceived):
                self.content[stream] += part.data
                self.receives(len(part.data))
            if part.stream_ended:
                fields, content = self.fields.pop(stream), bytes(self.content.pop(stream))
                length = fields.get(b"content-length", str(len(content)).encode())
                must(fields[b":status"] == b"200", fields)
                must(int(length) == len(content), fields, len(content))
                self.unanswered.pop(stream).set_result(content)

    async def move(self):
        """Sends and receives at another port from now on, and no longer at this one."""
        before = self._transport
        await asyncio.get_running_loop().create_datagram_endpoint(lambda: self, local_addr=("127.0.0.1", 0))
        must(self._transport is not before, "the socket did not change")
        before.close()
        # The server has to hear of it, even if the first datagram from here is lost.
        await self.ping()


class Peer:
    def __init__(self, certificate, url):
        self.certificate = certificate
        self.authority = urlsplit(url).netloc
        self.tickets = []

    @asynccontextmanager
    async def connection(self, ticket=None, **settings):
        """A connection with a log of its events (qlog)."""
        log = QuicLogger()
        host, port = self.authority.rsplit(":", 1)
        configuration = QuicConfiguration(
            alpn_protocols=H3_ALPN,
            server_name=host,
            session_ticket=ticket,
            verify_mode=ssl.CERT_REQUIRED,
            quic_logger=log,
            **settings,
        )
        configuration.load_verify_locations(self.certificate)
        quic = QuicConnection(configuration=configuration, session_ticket_handler=self.tickets.append)
        make = lambda: Client(quic, self.authority)
        _, client = await asyncio.get_running_loop().create_datagram_endpoint(make, local_addr=("127.0.0.1", 0))
        client.connect((host, int(port)))
        # Early data, if the session that is resumed permits it.
        first = asyncio.ensure_future(hello(client))
        await client.wait_connected()
        must(client.handshake.alpn_protocol == "h3", client.handshake)
        # Keys and addresses can change once the server has confirmed the handshake, as it has when it responds.
        await first
        client.log = lambda: [event for trace in log.to_dict()["traces"] for event in trace["events"]]
        yield client
        must(client.ended is None, client.ended)
        client.close(error_code=0x100)
        await client.wait_closed()
        client._transport.close()


async def hello(client):
    content = await client.request("/")
    must(content == HELLO, content)


def received(client, packet_type):
    """Returns the number of received packets of a type."""
    packets = [event["data"] for event in client.log() if event["name"] == "transport:packet_received"]
    return sum(packet["header"]["packet_type"] == packet_type for packet in packets)


def frames(client, direction, frame_type):
    """Returns the number of frames of a type that were received, or sent."""
    packets = [event["data"] for event in client.log() if event["name"] == f"transport:packet_{direction}"]
    return sum(frame["frame_type"] == frame_type for packet in packets for frame in packet["frames"])


class Every:
    """Counts the bytes of responses, and calls `change` with its number whenever there are CHANGE more."""

    def __init__(self, client, change):
        self.bytes, self.changes, self.change = 0, 0, change
        client.receives = self.take

    def take(self, length):
        self.bytes += length
        if self.bytes >= CHANGE * (self.changes + 1):
            self.changes += 1
            self.change(self.changes)


async def get(peer):
    async with peer.connection():
        pass


async def large(peer):
    async with peer.connection() as client:
        content = await client.request(f"/bytes/{LARGE}")
        must(len(content) == LARGE, len(content))


async def post(peer):
    sent = random.Random(1).randbytes(LARGE)
    async with peer.connection() as client:
        must(await client.request("/echo", sent) == sent, "the content changed")
        must(await client.request("/echo", b"") == b"", "there is content")


async def streams(peer):
    async with peer.connection() as client:
        contents = await asyncio.gather(*(client.request("/") for _ in range(1000)))
        must(all(content == HELLO for content in contents), contents)


async def keys(peer):
    sent = random.Random(2).randbytes(LARGE)
    async with peer.connection() as client:
        changes = Every(client, lambda _: client.request_key_update())
        must(await client.request("/echo", sent) == sent, "the content changed")
        await hello(client)
        updates = [event["data"] for event in client.log() if event["name"] == "security:key_updated"]
        updates = [update for update in updates if update["trigger"] == "local_update"]
        # Each changes the keys of both directions.
        must(changes.changes == 10 and len(updates) == 20, changes.changes, updates)


async def addresses(peer):
    sent = random.Random(3).randbytes(LARGE)
    async with peer.connection() as client:
        moves = []

        def change(number):
            # Of every two moves one is as by a NAT, which changes the address alone.
            if number % 2:
                client.change_connection_id()
            moves.append(asyncio.ensure_future(client.move()))

        Every(client, change)
        must(await client.request("/echo", sent) == sent, "the content changed")
        await asyncio.gather(*moves)
        await hello(client)
        # The server validates each address, which needs another one of the client's responses.
        challenges, responses = frames(client, "received", "path_challenge"), frames(client, "sent", "path_response")
        must(len(moves) == 10 and challenges >= 10 and responses >= 10, len(moves), challenges, responses)


async def narrow(peer):
    """With windows so small that the server stops at almost every datagram."""
    sent = random.Random(4).randbytes(LARGE // 10)
    async with peer.connection(max_data=6000, max_stream_data=3000) as client:
        contents = await asyncio.gather(*(client.request("/echo", sent) for _ in range(3)))
        must(contents == [sent] * 3, "the content changed")


async def cancelled(peer):
    """Leaves responses and requests in their middle; the connection continues."""
    async with peer.connection() as client:
        for _ in range(20):
            begun = asyncio.Event()
            client.receives = lambda _: begun.set()
            streams = [client.begin(f"/bytes/{LARGE}"), client.begin("/echo", bytes(LARGE))]
            await begun.wait()
            # The server may not even have begun with the last one.
            for stream in [*streams, client.begin("/bytes/1")]:
                client.leave(stream, ErrorCode.H3_REQUEST_CANCELLED)
            await hello(client)


async def version(peer):
    for offered in [RESERVED, QuicProtocolVersion.VERSION_2]:
        versions = [offered, QuicProtocolVersion.VERSION_1]
        async with peer.connection(supported_versions=versions, original_version=offered) as client:
            must(received(client, "version_negotiation") == 1, "the server did not negotiate", hex(offered))


async def resumed(peer, is_early=False):
    async with peer.connection() as client:
        must(not client.handshake.session_resumed, client.handshake)
    async with peer.connection(ticket=peer.tickets[-1]) as client:
        must(client.handshake.session_resumed, client.handshake)
        must(client.handshake.early_data_accepted == is_early, client.handshake)


async def early(peer):
    await resumed(peer, is_early=True)


async def retry(peer):
    async with peer.connection() as client:
        must(received(client, "retry") == 1, "the server did not send a Retry packet")


PARTS = [get, large, post, streams, narrow, cancelled, keys, addresses, version, resumed, early, retry]


async def main():
    certificate, url, *names = sys.argv[1:]
    parts = {part.__name__: part for part in PARTS}
    async with asyncio.timeout(PATIENCE):
        for name in names:
            await parts[name](Peer(certificate, url))
            print(name, flush=True)


# A loop that never waits does not see its time-out.
signal.alarm(PATIENCE + 5)
asyncio.run(main())
