//! What a client may send on a WebSocket, and what has to come of it: after the sections of RFC 6455.

use super::frames::*;

/// The most that the tested handler takes in one message.
pub const MOST: usize = 2 * 1024 * 1024;

pub struct Case {
    pub section: &'static str,
    pub name: String,
    pub sent: Vec<u8>,
    /// In pieces of this size.
    pub pieces: usize,
    /// Frames that come back.
    pub back: Vec<Frame>,
    pub end: End,
}

/// How a case ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Messages are echoed as before.
    Open,
    /// The server replies to a close with this code, or none, and ends the connection.
    Closes(Option<u16>),
    /// The server fails the connection (section 7.1.7): it ends it, and may say why in a close. Tungstenite says nothing,
    /// where that section has a SHOULD.
    Fails,
}

use End::{Closes, Fails, Open};

/// Makes a list of cases.
#[derive(Default)]
pub struct Cases(pub Vec<Case>);

impl Cases {
    fn add(&mut self, section: &'static str, name: impl Into<String>, sent: Vec<u8>, back: Vec<Frame>, end: End) {
        self.0.push(Case { section, name: name.into(), sent, pieces: usize::MAX, back, end });
    }

    /// The one before, chopped.
    fn chopped(&mut self, pieces: usize) {
        let Case { section, name, sent, back, end, .. } = self.0.last().expect("there is one");
        let name = format!("{name}, in pieces of {pieces}");
        let case = Case { section, name, sent: sent.clone(), pieces, back: back.clone(), end: *end };
        self.0.push(case);
    }
}

fn back(opcode: u8, payload: impl AsRef<[u8]>) -> Frame {
    Frame { opcode, payload: payload.as_ref().to_vec() }
}

fn text(payload: impl AsRef<[u8]>) -> Vec<Frame> {
    vec![back(TEXT, payload)]
}

pub fn all() -> Vec<Case> {
    let mut cases = Cases::default();
    framing(&mut cases);
    control(&mut cases);
    reserved(&mut cases);
    fragments(&mut cases);
    utf8(&mut cases);
    closing(&mut cases);
    limits(&mut cases);
    cases.0
}

fn framing(cases: &mut Cases) {
    for opcode in [TEXT, BINARY] {
        let byte = if opcode == TEXT { b'*' } else { 0xfe };
        for size in [0, 1, 125, 126, 127, 128, 65_535, 65_536, 1024 * 1024] {
            let payload = vec![byte; size];
            cases.add(
                "5.2",
                format!("{size} bytes, opcode {opcode}"),
                frame(opcode, &payload),
                vec![back(opcode, &payload)],
                Open,
            );
            if size <= 128 {
                cases.chopped(1);
            }
            cases.chopped(997);
        }
    }
    let unmasked = b"\x81\x05Hello".to_vec();
    cases.add("5.1", "a frame that is not masked", unmasked, vec![], Fails);
    cases.add("5.3", "masked by zeros", b"\x81\x85\0\0\0\0Hello".to_vec(), text("Hello"), Open);
    // "the minimal number of bytes MUST be used": Tungstenite does not mind.
    cases.add(
        "5.2",
        "a longer length than needed, of 16 bits",
        with_length(0x81, b"\xfe\0\x05", b"Hello"),
        text("Hello"),
        Open,
    );
    let long = with_length(0x81, b"\xff\0\0\0\0\0\0\0\x05", b"Hello");
    cases.add("5.2", "a longer length than needed, of 64 bits", long, text("Hello"), Open);
    cases.add(
        "5.2",
        "the highest bit of a length",
        with_length(0x82, b"\xff\x80\0\0\0\0\0\0\x01", b"x"),
        vec![],
        Fails,
    );
    let many: Vec<_> = (0..1_000).map(|n| format!("message {n}")).collect();
    let sent = many.iter().flat_map(|message| frame(TEXT, message)).collect();
    cases.add(
        "5.2",
        "a thousand messages at once",
        sent,
        many.iter().map(|message| back(TEXT, message)).collect(),
        Open,
    );
    cases.chopped(13);
}

fn control(cases: &mut Cases) {
    for payload in [&b""[..], b"a", b"\0\xff\xfe\xfd\xfc\xfb\0\xff", &[b'p'; 125]] {
        let name = format!("a ping of {} bytes", payload.len());
        cases.add("5.5.2", name, frame(PING, payload), vec![back(PONG, payload)], Open);
        cases.chopped(1);
    }
    let pings: Vec<_> = (0..10).map(|n| format!("ping {n}")).collect();
    let sent = pings.iter().flat_map(|ping| frame(PING, ping)).collect();
    // Who has not answered yet may respond to the last one only (section 5.5.3).
    cases.add("5.5.3", "ten pings at once", sent, pings.iter().map(|ping| back(PONG, ping)).collect(), Open);
    for (name, opcode) in [("ping", PING), ("pong", PONG), ("close", CLOSE)] {
        cases.add("5.5", format!("a {name} of 126 bytes"), frame(opcode, [b'x'; 126]), vec![], Fails);
        cases.add("5.5", format!("a {name} of 65,536 bytes"), frame(opcode, vec![b'x'; 65_536]), vec![], Fails);
        cases.add("5.5", format!("a fragment of a {name}"), part(opcode, "x"), vec![], Fails);
    }
    for payload in [&b""[..], b"unasked", &[0xff; 125]] {
        let sent = [frame(PONG, payload), frame(PING, "p")].concat();
        cases.add(
            "5.5.3",
            format!("a pong of {} bytes that nobody asked for", payload.len()),
            sent,
            vec![back(PONG, "p")],
            Open,
        );
    }
}

fn reserved(cases: &mut Cases) {
    for bits in 1..8 {
        let sent = [frame(TEXT, "before"), flagged(0x80 | bits << 4 | TEXT, "x"), frame(TEXT, "after")].concat();
        cases.add("5.2", format!("reserved bits {bits:03b} of a text"), sent, text("before"), Fails);
    }
    for (name, opcode) in [("binary", BINARY), ("ping", PING), ("close", CLOSE)] {
        cases.add("5.2", format!("a reserved bit of a {name}"), flagged(0xc0 | opcode, ""), vec![], Fails);
    }
    for opcode in (3..8).chain(11..16) {
        let sent = [frame(TEXT, "before"), frame(opcode, ""), frame(PING, "after")].concat();
        cases.add("5.2", format!("the reserved opcode {opcode}"), sent, text("before"), Fails);
        let sent = [part(TEXT, "begun"), frame(opcode, "x")].concat();
        cases.add("5.2", format!("the reserved opcode {opcode} between fragments"), sent, vec![], Fails);
    }
}

fn fragments(cases: &mut Cases) {
    let three = [part(TEXT, "one "), part(CONTINUED, "two "), frame(CONTINUED, "three")];
    cases.add("5.4", "two fragments", [part(TEXT, "a"), frame(CONTINUED, "b")].concat(), text("ab"), Open);
    cases.chopped(1);
    cases.add("5.4", "three fragments", three.concat(), text("one two three"), Open);
    cases.chopped(1);
    cases.add(
        "5.4",
        "fragments of nothing",
        [part(TEXT, ""), part(CONTINUED, ""), frame(CONTINUED, "")].concat(),
        text(""),
        Open,
    );
    let sent = [part(TEXT, ""), part(CONTINUED, "x"), frame(CONTINUED, "")].concat();
    cases.add("5.4", "nothing before and behind", sent, text("x"), Open);
    let sent = [part(BINARY, [0xff]), frame(CONTINUED, [0xfe])].concat();
    cases.add("5.4", "fragments of a binary message", sent, vec![back(BINARY, [0xff, 0xfe])], Open);
    let many = (0..1_000).flat_map(|_| part(CONTINUED, "x"));
    let sent = part(TEXT, "").into_iter().chain(many).chain(frame(CONTINUED, "")).collect();
    cases.add("5.4", "a thousand fragments", sent, text("x".repeat(1_000)), Open);
    let large = (0..64).flat_map(|_| part(CONTINUED, vec![7; 16 * 1024]));
    let sent = part(BINARY, "").into_iter().chain(large).chain(frame(CONTINUED, "")).collect();
    cases.add("5.4", "a megabyte in fragments", sent, vec![back(BINARY, vec![7; 1024 * 1024])], Open);
    let with_ping = [&three[0], &frame(PING, "p")[..], &three[1], &frame(PING, "q"), &three[2]].concat();
    let expected = vec![back(PONG, "p"), back(PONG, "q"), back(TEXT, "one two three")];
    cases.add("5.4", "pings between fragments", with_ping, expected, Open);
    cases.chopped(1);
    let with_pong = [&three[0], &frame(PONG, "p")[..], &three[1], &three[2]].concat();
    cases.add("5.4", "a pong between fragments", with_pong, text("one two three"), Open);
    let twice = [three.concat(), three.concat(), frame(TEXT, "x")].concat();
    let expected = vec![back(TEXT, "one two three"), back(TEXT, "one two three"), back(TEXT, "x")];
    cases.add("5.4", "one fragmented message after another", twice, expected, Open);
    for (name, last) in [("a last", true), ("a further", false)] {
        let sent = if last { frame(CONTINUED, "x") } else { part(CONTINUED, "x") };
        cases.add("5.4", format!("{name} fragment of nothing begun"), sent.clone(), vec![], Fails);
        let sent = [three.concat(), sent].concat();
        cases.add("5.4", format!("{name} fragment of a message that has ended"), sent, text("one two three"), Fails);
    }
    for opcode in [TEXT, BINARY] {
        for (name, second) in [("whole", frame(opcode, "x")), ("begun", part(opcode, "x"))] {
            let sent = [part(TEXT, "begun"), second].concat();
            cases.add("5.4", format!("a {name} message of opcode {opcode} between fragments"), sent, vec![], Fails);
        }
    }
}

fn utf8(cases: &mut Cases) {
    let valid = [
        "\u{3ba}\u{1f79}\u{3c3}\u{3bc}\u{3b5}",
        "\0",
        "\u{7f}\u{80}\u{7ff}\u{800}",
        "\u{d7ff}\u{e000}",
        "\u{fffd}\u{fffe}\u{ffff}",
        "\u{10000}\u{10ffff}",
        "\u{feff}with a mark",
        "Hello-\u{b5}@\u{df}\u{f6}\u{e4}\u{fc}\u{e0}\u{e1}-UTF-8!!",
    ];
    for valid in valid {
        let name = format!("valid: {}", valid.escape_unicode());
        cases.add("8.1", name.clone(), frame(TEXT, valid), text(valid), Open);
        // Fragments may end inside a character (section 5.6).
        let bytes = valid.as_bytes();
        let pieces =
            bytes.iter().enumerate().flat_map(|(at, byte)| part(if at == 0 { TEXT } else { CONTINUED }, [*byte]));
        let sent = pieces.chain(frame(CONTINUED, "")).collect();
        cases.add("5.6", format!("{name}, a byte a fragment"), sent, text(valid), Open);
        cases.chopped(1);
    }
    let invalid: [&[u8]; 22] = [
        b"\x80",
        b"\xbf",
        b"a\x80\xbfb",
        b"\xc0\xaf",
        b"\xc1\xbf",
        b"\xe0\x80\xaf",
        b"\xe0\x9f\xbf",
        b"\xf0\x80\x80\xaf",
        b"\xf0\x8f\xbf\xbf",
        b"\xed\xa0\x80",
        b"\xed\xbf\xbf",
        b"\xed\xa0\x80\xed\xb0\x80",
        b"\xf4\x90\x80\x80",
        b"\xf5\x80\x80\x80",
        b"\xf8\x88\x80\x80\x80",
        b"\xfe",
        b"\xff",
        b"\xc2",
        b"\xe2\x82",
        b"\xf0\x9f\x98",
        b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80edited",
        b"ok until \xe2\x28\xa1",
    ];
    for invalid in invalid {
        let name = format!("invalid: {}", invalid.escape_ascii());
        cases.add("8.1", name.clone(), frame(TEXT, invalid), vec![], Fails);
        let sent = [part(TEXT, ""), part(CONTINUED, "valid "), frame(CONTINUED, invalid)].concat();
        cases.add("8.1", format!("{name}, in a fragment"), sent, vec![], Fails);
    }
    let sent = [part(TEXT, b"\xe2\x82"), frame(CONTINUED, b"(")].concat();
    cases.add("8.1", "a character that is not finished in the next fragment", sent, vec![], Fails);
    let sent = frame(BINARY, b"\xff\xfe\x80");
    cases.add("5.6", "a binary message need not be UTF-8", sent, vec![back(BINARY, b"\xff\xfe\x80")], Open);
}

fn closing(cases: &mut Cases) {
    cases.add("5.5.1", "a close without a code", frame(CLOSE, ""), vec![], Closes(None));
    for code in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999] {
        cases.add("7.4", format!("a close with {code}"), close(code, ""), vec![], Closes(Some(code)));
    }
    for code in [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] {
        cases.add("7.4.2", format!("a close with {code}, which may not be sent"), close(code, ""), vec![], Fails);
    }
    cases.add("5.5.1", "a close with a reason", close(1000, "because"), vec![], Closes(Some(1000)));
    cases.chopped(1);
    cases.add("5.5.1", "a reason of 123 bytes", close(1000, [b'r'; 123]), vec![], Closes(Some(1000)));
    cases.add("5.5.1", "a reason of 124 bytes", close(1000, [b'r'; 124]), vec![], Fails);
    cases.add("5.5.1", "a close of one byte", frame(CLOSE, [3]), vec![], Fails);
    cases.add("5.5.1", "a reason that is not UTF-8", close(1000, b"\xce\xba\xe1\xbd\xb9\xed\xa0\x80"), vec![], Fails);
    cases.add(
        "5.5.1",
        "a message before a close",
        [frame(TEXT, "x"), close(1000, "")].concat(),
        text("x"),
        Closes(Some(1000)),
    );
    for (name, more) in [("message", frame(TEXT, "late")), ("ping", frame(PING, "late")), ("close", close(1001, ""))] {
        let sent = [close(1000, ""), more].concat();
        cases.add("5.5.1", format!("a {name} behind a close"), sent, vec![], Closes(Some(1000)));
    }
    let sent = [part(TEXT, "begun"), close(1000, ""), frame(CONTINUED, "late")].concat();
    cases.add("5.5.1", "a close between fragments", sent, vec![], Closes(Some(1000)));
}

fn limits(cases: &mut Cases) {
    let most = vec![b'm'; MOST];
    cases.add("10.4", "the largest message that is taken", frame(BINARY, &most), vec![back(BINARY, &most)], Open);
    cases.add("10.4", "a byte more", frame(BINARY, vec![b'm'; MOST + 1]), vec![], Fails);
    let head = with_length(0x82, b"\xff\x40\0\0\0\0\0\0\0", b"");
    cases.add("10.4", "a frame of which only an enormous length is told", head, vec![], Fails);
    let sent = [part(BINARY, vec![b'm'; MOST - 10]), frame(CONTINUED, [b'm'; 11])].concat();
    cases.add("10.4", "a byte more in fragments", sent, vec![], Fails);
}
