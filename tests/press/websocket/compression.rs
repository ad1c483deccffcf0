//! Compressed messages (RFC 7692): what is negotiated, and what servers make of it, rightly and wrongly.

use super::{CLOSE, FIN, PATIENCE, PING, TEXT, accept, cause, field, frame, press, receive, url};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use torr_test_support::program::torr;
use torr_test_support::result::count;
use torr_test_support::script::Script;

/// The bit of a message that is compressed.
const COMPRESSED: u8 = 0x40;
/// The bytes at the end of a flushed message that are not sent.
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
const NO_TAKEOVER: &str = "; server_no_context_takeover; client_no_context_takeover";

/// The codec of a server, whose messages may refer to earlier ones.
struct Codec {
    encoder: Compress,
    decoder: Decompress,
    takes_over: bool,
}

impl Codec {
    fn new(takes_over: bool) -> Self {
        let encoder = Compress::new(Compression::default(), false);
        Self { encoder, decoder: Decompress::new(false), takes_over }
    }

    fn encode(&mut self, payload: &[u8]) -> Vec<u8> {
        if !self.takes_over {
            self.encoder.reset();
        }
        let mut out = Vec::with_capacity(payload.len() + 1024);
        self.encoder.compress_vec(payload, &mut out, FlushCompress::Sync).expect("it takes all");
        assert!(out.ends_with(&TAIL));
        out.truncate(out.len() - TAIL.len());
        out
    }

    fn decode(&mut self, payload: &[u8]) -> Vec<u8> {
        if !self.takes_over {
            self.decoder.reset(false);
        }
        let mut out = Vec::with_capacity(1 << 20);
        let input = [payload, &TAIL].concat();
        let status = self.decoder.decompress_vec(&input, &mut out, FlushDecompress::Sync).expect("it is valid");
        assert_eq!(status, Status::Ok);
        out
    }
}

fn extension(parameters: &str) -> String {
    format!("Sec-WebSocket-Extensions: permessage-deflate{parameters}\r\n")
}

/// Sends each message back, compressed in two fragments with a ping between them, to clients that compress as well.
fn echo(parameters: &'static str, lengths: std::sync::mpsc::Sender<usize>) -> Script {
    let lengths = Mutex::new(lengths);
    Script::start(move |client| {
        let lengths = lengths.lock().expect("nobody panics with it").clone();
        let mut codec = Codec::new(parameters.is_empty());
        if accept(client, &extension(parameters)).is_none() {
            return;
        }
        while let Some((first, payload)) = receive(client) {
            if first == FIN | CLOSE {
                client.send(&frame(first, &payload));
                return;
            }
            if first & 0xf == TEXT {
                assert_eq!(first, FIN | COMPRESSED | TEXT);
                let _ = lengths.send(payload.len());
                let message = codec.decode(&payload);
                let message = codec.encode(&message);
                let (begin, end) = message.split_at(message.len() / 2);
                let frames = [frame(COMPRESSED | TEXT, begin), frame(FIN | PING, b"?"), frame(FIN, end)];
                client.send(&frames.concat());
            }
        }
    })
}

#[test]
fn messages_are_compressed_in_both_directions() {
    let text = "some words that are the same in each message, and their number: ".repeat(8);
    let message = format!(r#"{{"id": {{{{seq}}}}, "text": "{text}"}}"#);
    let takeover = &["--compressed"][..];
    let alone = &["--compressed", "--no-context-takeover"][..];
    let by_value = &["--compressed", "--match", "jsonpath \"$.id\"", "--pipeline", "3"][..];
    for (flags, parameters, offer) in [
        (takeover, "", "permessage-deflate; client_max_window_bits"),
        (takeover, NO_TAKEOVER, "permessage-deflate; client_max_window_bits"),
        (by_value, "", "permessage-deflate; client_max_window_bits"),
        (alone, NO_TAKEOVER, "permessage-deflate; server_no_context_takeover; client_no_context_takeover"),
    ] {
        let (sender, lengths) = channel();
        let server = echo(parameters, sender);
        let args = [&["-n", "30", "-c", "2", "--data", &message, "--expect-body", &text], flags].concat();
        let result = press(&url(&server), &args);
        assert_eq!((count(&result, "/requests"), count(&result, "/checks/0/failed")), (30, 0), "{result}");
        assert_eq!((count(&result, "/websocket/compressed"), count(&result, "/websocket/pings")), (2, 30), "{result}");
        // The body is what was decoded; what was received and sent is as it was on the wire.
        let (body, received) = (count(&result, "/bytes/body"), count(&result, "/bytes/received"));
        assert!(body > 30 * text.len() as u64 && received < body / 2, "{body} and {received} bytes: {result}");
        assert!(count(&result, "/bytes/sent") < body / 2, "{result}");
        for request in server.texts() {
            assert_eq!(field(&request, "Sec-WebSocket-Extensions"), Some(offer), "{request}");
            assert_eq!(field(&request, "Accept-Encoding"), None, "{request}");
        }
        let lengths: Vec<_> = lengths.try_iter().collect();
        assert_eq!(lengths.len(), 30);
        // A message that may refer to earlier ones has little of its own.
        let (most, least) = (lengths.iter().max(), lengths.iter().min());
        let (most, least) = (most.expect("there are some"), least.expect("there are some"));
        assert_eq!(least * 2 < *most, parameters.is_empty(), "{lengths:?}");
    }
}

#[test]
fn a_server_may_decline_or_send_plain_messages() {
    let server = Script::start(super::echo);
    let flags = ["-n", "10", "-c", "2", "--compressed", "--data", "x"];
    let result = press(&url(&server), &flags);
    let counts = (count(&result, "/requests"), count(&result, "/websocket/compressed"));
    assert_eq!(counts, (10, 0), "{result}");
    let shown = torr(&[&flags[..], &["-t", "1", &url(&server)]].concat());
    assert!(shown.stdout.contains("compressed connections: 0"), "{}", shown.stdout);
    // Without the offer there is nothing to count.
    let result = press(&url(&server), &["-n", "1", "--data", "x"]);
    assert!(result["websocket"].get("compressed").is_none(), "{result}");
    let server = Script::start(|client| {
        if accept(client, &extension("; server_max_window_bits=9")).is_some() {
            while receive(client).is_some_and(|(first, _)| first != FIN | CLOSE) {
                client.send(&[frame(TEXT, b"pla"), frame(FIN, b"in")].concat());
            }
        }
    });
    let result = press(&url(&server), &["-n", "5", "-c", "1", "--compressed", "--data", "x", "--expect-body", "plain"]);
    let counts = (count(&result, "/requests"), count(&result, "/checks/0/failed"), count(&result, "/bytes/body"));
    assert_eq!((counts, count(&result, "/websocket/compressed")), ((5, 0, 25), 1), "{result}");
}

#[test]
fn handshakes_that_agree_on_something_else_fail() {
    for (parameters, flags, what) in [
        ("; client_max_window_bits=16", &[][..], "client_max_window_bits=16"),
        ("; server_max_window_bits=9; server_max_window_bits=9", &[], "server_max_window_bits=9"),
        ("; x=1", &[], "x=1"),
        ("; client_max_window_bits=10", &["--no-context-takeover"], "client_max_window_bits=10"),
    ] {
        let server = Script::start(move |client| {
            let _ = accept(client, &extension(parameters));
            client.request();
        });
        let ended = torr(&[&["-n", "2", "-c", "1", "--compressed", "--data", "x", &url(&server)], flags].concat());
        let why = format!("the server uses permessage-deflate with '{what}', which is invalid or was not offered");
        assert!(ended.code != Some(0) && ended.stderr.contains(&why), "{ended:?}");
    }
    let server = Script::start(|client| {
        let _ = accept(client, &extension(""));
        client.request();
    });
    let ended = torr(&["-n", "2", "-c", "1", "--data", "x", &url(&server)]);
    assert!(ended.stderr.contains("the extension 'permessage-deflate', which was not offered"), "{ended:?}");
}

#[test]
fn compressed_messages_that_break_the_protocol_end_a_connection_with_a_code() {
    // All zeros, a few kilobytes of which are more than 16 MiB.
    let bomb = Codec::new(false).encode_large(17 << 20);
    let cases = [
        (frame(FIN | COMPRESSED | PING, b""), "the server sent a frame with reserved bits", 1002_u16),
        (frame(FIN | COMPRESSED | CLOSE, b""), "the server sent a frame with reserved bits", 1002),
        (
            [frame(COMPRESSED | TEXT, b"\xf2"), frame(FIN | COMPRESSED, b"\x48")].concat(),
            "the server sent a frame with reserved bits",
            1002,
        ),
        (frame(FIN | 0x20 | TEXT, b""), "the server sent a frame with reserved bits", 1002),
        (frame(FIN | COMPRESSED | TEXT, &[0xff; 9]), "the server sent a compressed message that is malformed", 1007),
        (frame(FIN | COMPRESSED | TEXT, &bomb), "the server sent a message with more than 16777216 bytes", 1009),
    ];
    for (bytes, what, code) in cases {
        let (sender, codes) = channel();
        let sender = Mutex::new(sender);
        let server = Script::start(move |client| {
            if accept(client, &extension("")).is_some() && receive(client).is_some() {
                client.send(&bytes);
                let _ = sender.lock().expect("nobody panics with it").send(receive(client));
            }
        });
        let result = press(&url(&server), &["-n", "1", "-c", "1", "--compressed", "--data", "x"]);
        assert_eq!((count(&result, "/errors/protocol"), cause(&result)), (1, what), "{result}");
        assert_eq!(result["causes"][0]["side"], "server", "{result}");
        let last = codes.recv_timeout(PATIENCE).expect("the client closes the connection");
        assert_eq!(last, Some((FIN | CLOSE, code.to_be_bytes().to_vec())), "{what}");
    }
}

impl Codec {
    /// Returns the compressed form of so many zeros.
    fn encode_large(mut self, zeros: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(1 << 20);
        let payload = vec![0; zeros];
        self.encoder.compress_vec(&payload, &mut out, FlushCompress::Sync).expect("it takes all");
        assert!(self.encoder.total_in() == zeros as u64 && out.len() < zeros / 100, "{} bytes", out.len());
        out.truncate(out.len() - TAIL.len());
        out
    }
}

#[test]
fn a_listener_gets_compressed_messages() {
    let server = Script::start(|client| {
        if accept(client, &extension("")).is_none() {
            return;
        }
        let mut codec = Codec::new(true);
        for n in 0..5 {
            let message = codec.encode(format!("{{\"n\": {n}}}").as_bytes());
            client.send(&frame(FIN | COMPRESSED | TEXT, &message));
        }
        while receive(client).is_some_and(|(first, _)| first != FIN | CLOSE) {}
    });
    let flags = ["-n", "6", "-c", "2", "--listen", "--compressed", "--until", "data contains 3"];
    let result = press(&url(&server), &flags);
    let counts = (count(&result, "/requests"), count(&result, "/streams/events"), count(&result, "/bytes/body"));
    assert_eq!(counts, (6, 6 * 4, 6 * 4 * 8), "{result}");
    assert_eq!(count(&result, "/websocket/compressed"), 6, "{result}");
}

#[test]
fn compression_has_settings_that_belong_together() {
    for (args, why) in [
        (
            &["ws://127.0.0.1:9/", "--data", "x", "--no-context-takeover"][..],
            "--no-context-takeover needs --compressed",
        ),
        (
            &["http://127.0.0.1:9/", "--compressed", "--no-context-takeover"],
            "--no-context-takeover needs a ws:// or wss:// URL",
        ),
        (
            &["ws://127.0.0.1:9/", "--data", "x", "-H", "Sec-WebSocket-Extensions: permessage-deflate"],
            "header 'Sec-WebSocket-Extensions' belongs to the WebSocket handshake",
        ),
    ] {
        let ended = torr(args);
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(why), "{args:?}: {ended:?}");
    }
}
