//! Frames, whole and in pieces, right and wrong.

use super::*;
use proptest::prelude::*;

const KEY: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
const MOST: u64 = 1 << 20;

/// What the pieces of a stream mean: messages with their payload, and control frames.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Message(Kind, Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(Option<u16>),
}

fn read_all<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Result<Vec<Seen>, FrameError> {
    let (mut reader, mut seen, mut payload) = (FrameReader::default(), Vec::new(), Vec::new());
    for piece in pieces {
        let mut rest = piece;
        loop {
            let (used, event) = reader.read(rest, MOST, |part| payload.extend_from_slice(part))?;
            rest = &rest[used..];
            let Some(event) = event else { break };
            seen.push(match event {
                FrameEvent::Message(kind, length) => {
                    assert_eq!(length, payload.len() as u64);
                    Seen::Message(kind, std::mem::take(&mut payload))
                }
                FrameEvent::Ping => Seen::Ping(reader.control().to_vec()),
                FrameEvent::Pong => Seen::Pong(reader.control().to_vec()),
                FrameEvent::Close(code) => Seen::Close(code),
            });
        }
        assert!(rest.is_empty(), "without an event all is consumed");
    }
    Ok(seen)
}

/// A frame as a server sends it.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        length @ 0..126 => bytes.push(length as u8),
        length @ 126..65_536 => {
            bytes.push(126);
            bytes.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            bytes.push(127);
            bytes.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    bytes.extend_from_slice(payload);
    bytes
}

/// The examples of section 5.7.
#[test]
fn the_frames_of_the_rfc_are_read_and_written() {
    let hello = b"Hello".to_vec();
    assert_eq!(read_all([&b"\x81\x05Hello"[..]]), Ok(vec![Seen::Message(Kind::Text, hello.clone())]));
    assert_eq!(read_all([&b"\x01\x03Hel\x80\x02lo"[..]]), Ok(vec![Seen::Message(Kind::Text, hello.clone())]));
    assert_eq!(read_all([&b"\x89\x05Hello"[..]]), Ok(vec![Seen::Ping(hello.clone())]));
    let large = [&[0x82, 0x7e, 0x01, 0x00][..], &[7; 256]].concat();
    assert_eq!(read_all([&large[..]]), Ok(vec![Seen::Message(Kind::Binary, vec![7; 256])]));
    let larger = [&[0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0][..], &[7; 65_536]].concat();
    assert_eq!(read_all([&larger[..]]), Ok(vec![Seen::Message(Kind::Binary, vec![7; 65_536])]));
    let mut out = b"before".to_vec();
    out.extend_from_slice(&[0; 6]);
    out.extend_from_slice(b"Hello");
    finish_message(Kind::Text, KEY, 6, 6, &mut out);
    assert_eq!(out, b"before\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
    let mut pong = Vec::new();
    super::pong(&hello, KEY, &mut pong);
    assert_eq!(pong, b"\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
}

#[test]
fn a_message_has_the_header_of_its_length_whatever_room_was_left() {
    for length in [0, 1, 125, 126, 127, 65_535, 65_536] {
        for room in [6, 8, 14] {
            let payload: Vec<u8> = (0..length).map(|n| n as u8).collect();
            let mut out = vec![b'x'; 3 + room];
            out.extend_from_slice(&payload);
            let header = finish_message(Kind::Binary, KEY, 3, room, &mut out);
            assert_eq!(header, message_room(length));
            assert_eq!((&out[..3], out.len()), (&b"xxx"[..], 3 + header + length));
            let mut unmasked = out.split_off(3 + header);
            mask(&mut unmasked, KEY);
            assert!(unmasked == payload, "{length} bytes behind {room}");
            assert_eq!((out[3], out[4] & MASKED, &out[3 + header - 4..]), (0x82, MASKED, &KEY[..]));
            out[4] &= !MASKED;
            let frame = [&out[3..3 + header - 4], &payload].concat();
            assert_eq!(read_all([&frame[..]]), Ok(vec![Seen::Message(Kind::Binary, payload)]));
        }
    }
}

#[test]
fn a_connection_is_closed_with_a_code_or_without() {
    for (payload, code) in [(&b""[..], Some(None)), (b"\x03\xe8", Some(Some(1000))), (b"\x0f\xa0bye", Some(Some(4000)))]
    {
        assert_eq!(read_all([&frame(0x88, payload)[..]]).ok(), code.map(|code| vec![Seen::Close(code)]));
    }
    for bad in [&b"\x03"[..], b"\x03\xe7", b"\x03\xed", b"\x03\xee", b"\x03\xf7", b"\x13\x88", b"\xff\xff"] {
        assert_eq!(read_all([&frame(0x88, bad)[..]]), Err(FrameError::Code), "{bad:?}");
    }
    let mut out = Vec::new();
    close(Some(1000), "", [0; 4], &mut out);
    close(None, "", [0; 4], &mut out);
    assert_eq!(out, b"\x88\x82\0\0\0\0\x03\xe8\x88\x80\0\0\0\0");
    out.clear();
    close(Some(4000), "why", [0; 4], &mut out);
    ping(b"x", [0; 4], &mut out);
    assert_eq!(out, b"\x88\x85\0\0\0\0\x0f\xa0why\x89\x81\0\0\0\0x");
    out.clear();
    close(Some(1000), &"\u{e9}".repeat(200), [0; 4], &mut out);
    assert_eq!((out[1], out.len()), (0x80 | 124, 6 + 124), "no letter is cut in two");
}

#[test]
fn violations_are_found_before_any_payload_arrives() {
    for (bytes, error) in [
        (&b"\x81\x85"[..], FrameError::Masked),
        (b"\xc1\x05", FrameError::Reserved),
        (b"\x91\x00", FrameError::Reserved),
        (b"\x83\x00", FrameError::Opcode(3)),
        (b"\x8b\x00", FrameError::Opcode(11)),
        (b"\x80\x00", FrameError::NothingToContinue),
        (b"\x81\x00\x00\x01", FrameError::NothingToContinue),
        (b"\x01\x00\x82\x00", FrameError::MessageWithin),
        (b"\x09\x00", FrameError::FragmentedControl),
        (b"\x89\x7e\x00\x7e", FrameError::LargeControl),
        (b"\x82\x7f\x00\x00\x00\x00\x00\x10\x00\x01", FrameError::Large(MOST)),
        (b"\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff", FrameError::Large(MOST)),
        (b"\x02\x01x\x00\x7f\xff\xff\xff\xff\xff\xff\xff\xff", FrameError::Large(MOST)),
    ] {
        assert_eq!(read_all([bytes]), Err(error), "{bytes:?}");
    }
    assert_eq!((FrameError::Large(1).code(), FrameError::Masked.code()), (1009, 1002));
}

#[test]
fn only_the_first_frame_of_a_message_says_that_it_is_compressed() {
    let read = |takes_compressed: bool, bytes: &[u8]| {
        let mut reader = FrameReader::default();
        if takes_compressed {
            reader.take_compressed();
        }
        let mut payload = Vec::new();
        let read = reader.read(bytes, MOST, |part| payload.extend_from_slice(part));
        read.map(|(used, event)| (used == bytes.len(), event, reader.was_compressed(), payload))
    };
    let whole = |bytes: &[u8], length, is_compressed, payload: &[u8]| {
        let event = Some(FrameEvent::Message(Kind::Text, length));
        assert_eq!(read(true, bytes), Ok((true, event, is_compressed, payload.to_vec())), "{bytes:?}");
    };
    whole(b"\xc1\x01x", 1, true, b"x");
    whole(b"\x41\x01x\x80\x01y", 2, true, b"xy");
    whole(b"\x41\x01x\x00\x01y\x80\x00", 2, true, b"xy");
    whole(b"\x81\x01x", 1, false, b"x");
    for bytes in [
        // Control frames, frames that continue a message, and other bits.
        &b"\xc9\x00"[..],
        b"\xca\x00",
        b"\xc8\x02\x03\xe8",
        b"\x41\x01x\xc0\x01y",
        b"\x01\x01x\xc0\x01y",
        b"\xc0\x01y",
        b"\xe1\x00",
        b"\xd1\x00",
        b"\xa1\x00",
        b"\xc3\x00",
    ] {
        assert_eq!(read(true, bytes), Err(FrameError::Reserved), "{bytes:?}");
    }
    assert_eq!(read(false, b"\xc1\x01x"), Err(FrameError::Reserved), "nothing was agreed on");
    let mut reader = FrameReader::default();
    reader.take_compressed();
    reader.reset();
    assert_eq!(reader.read(b"\xc1\x01x", MOST, |_| ()), Err(FrameError::Reserved), "another connection");
    let mut out = b"\0\0\0\0\0\0x".to_vec();
    finish_compressed_message(Kind::Text, [0; 4], 0, 6, &mut out);
    assert_eq!(out, b"\xc1\x81\0\0\0\0x");
    assert_eq!(FrameError::Deflate.code(), 1007);
}

/// The opcode of a message, the payload of its frames, and that of a ping behind the first one.
type Sent = (u8, Vec<Vec<u8>>, Option<Vec<u8>>);

fn messages() -> impl Strategy<Value = Vec<Sent>> {
    let part = prop::collection::vec(any::<u8>(), 0..300);
    let ping = prop::option::of(prop::collection::vec(any::<u8>(), 0..=LARGEST_CONTROL));
    prop::collection::vec((1..=2_u8, prop::collection::vec(part, 1..4), ping), 0..6)
}

proptest! {
    /// Any split of the bytes gives the same messages, whose frames may have pings between them.
    #[test]
    fn pieces_of_any_size_give_the_same_messages(messages in messages(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40)) {
        let (mut bytes, mut expected) = (Vec::new(), Vec::new());
        for (kind, parts, ping) in messages {
            for (at, part) in parts.iter().enumerate() {
                let first = if at == 0 { kind } else { opcode::CONTINUATION };
                let fin = if at + 1 == parts.len() { FIN } else { 0 };
                bytes.extend(frame(first | fin, part));
                if at == 0 && let Some(ping) = &ping {
                    bytes.extend(frame(0x89, ping));
                }
            }
            let message = Seen::Message(if kind == 1 { Kind::Text } else { Kind::Binary }, parts.concat());
            let ping = ping.map(Seen::Ping);
            expected.extend(if parts.len() == 1 { [Some(message), ping] } else { [ping, Some(message)] }.into_iter().flatten());
        }
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]);
        prop_assert_eq!(read_all(pieces), Ok(expected.clone()));
        prop_assert_eq!(read_all(bytes.chunks(1)), Ok(expected));
    }

    /// Bytes that mean nothing end in an error or in events, and in no panic.
    #[test]
    fn no_bytes_are_too_much(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let whole = read_all([&bytes[..]]);
        prop_assert_eq!(read_all(bytes.chunks(1)), whole);
    }
}
