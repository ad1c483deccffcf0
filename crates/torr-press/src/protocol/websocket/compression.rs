//! The compression of messages (RFC 7692, section 7.2): raw DEFLATE that ends with an empty stored block, whose last bytes are not sent.

use flate2::{Compress, Decompress, FlushCompress, FlushDecompress, Status};
use torr_wire::websocket::{Agreement, FrameError};

/// The bytes at the end of a flushed message that are not sent (section 7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// The payload of a compressed message without content (section 7.2.3.6).
const EMPTY: u8 = 0;
/// The level of compression: the one that costs the load generator the least.
const LEVEL: u32 = 1;
/// The smallest window of the library, as a power of two. An encoder with it refers to at most 250 bytes, fewer than the 256 of the
/// smallest window of the protocol.
const SMALLEST_WINDOW: u8 = 9;
/// The number of bytes that are decoded at a time.
const PIECE: usize = 16 * 1024;
/// The number of bytes of compressed payload beyond which their memory is given back after the message.
const MOST_KEPT: usize = 64 * 1024;

/// The compression of the messages of one connection. What it has of its own is the state that messages share: an encoder and a
/// decoder in the directions with context takeover, from the first message on.
#[derive(Debug)]
pub struct MessageCompression {
    agreement: Agreement,
    encoder: Option<Compress>,
    decoder: Option<Decompress>,
    /// The payload of the message that is arriving, compressed.
    payload: Vec<u8>,
}

/// What the connections of a thread share: encoder and decoder of messages that stand for themselves, and room for what they make.
#[derive(Debug, Default)]
pub struct MessageCodecs {
    /// The encoders by their windows, of which few exist.
    encoders: Vec<(u8, Compress)>,
    decoder: Option<Decompress>,
    room: Vec<u8>,
}

impl MessageCompression {
    /// Returns the compression of a connection whose handshake has agreed on this.
    #[must_use]
    pub fn new(agreement: Agreement) -> Self {
        Self { agreement, encoder: None, decoder: None, payload: Vec::new() }
    }

    /// Compresses the bytes of `message` from `start` on, which are the payload of the next message.
    pub fn encode(&mut self, codecs: &mut MessageCodecs, start: usize, message: &mut Vec<u8>) {
        if message.len() == start {
            message.push(EMPTY);
            return;
        }
        let window = self.agreement.client_window.max(SMALLEST_WINDOW);
        let MessageCodecs { encoders, room, .. } = codecs;
        let encoder = if self.agreement.client_takes_over {
            self.encoder.get_or_insert_with(|| encoder(window))
        } else {
            let known = encoders.iter().position(|(of, _)| *of == window).unwrap_or_else(|| {
                encoders.push((window, encoder(window)));
                encoders.len() - 1
            });
            let encoder = &mut encoders[known].1;
            encoder.reset();
            encoder
        };
        let encoded = compress(encoder, &message[start..], room);
        message.truncate(start);
        message.extend_from_slice(encoded);
    }

    /// Holds a piece of the payload of the message that is arriving.
    pub fn hold(&mut self, piece: &[u8]) {
        self.payload.extend_from_slice(piece);
    }

    /// Hands over the payload that was held, which is not compressed.
    pub fn hand_over(&mut self, mut piece: impl FnMut(&[u8])) {
        piece(&self.payload);
        self.forget();
    }

    /// Decodes the payload that was held, whose pieces go to `piece`. Returns the number of bytes, which are `most` at most.
    ///
    /// # Errors
    /// If they are more, or the payload is malformed.
    pub fn decode(
        &mut self,
        codecs: &mut MessageCodecs,
        most: u64,
        mut piece: impl FnMut(&[u8]),
    ) -> Result<u64, FrameError> {
        let MessageCodecs { decoder, room, .. } = codecs;
        let decoder = if self.agreement.server_takes_over {
            let window = self.agreement.server_window.max(SMALLEST_WINDOW);
            self.decoder.get_or_insert_with(|| Decompress::new_with_window_bits(false, window))
        } else {
            let decoder = decoder.get_or_insert_with(|| Decompress::new(false));
            decoder.reset(false);
            decoder
        };
        room.resize(room.len().max(PIECE), 0);
        let mut length = 0;
        let mut checked = |bytes: &[u8]| {
            length += bytes.len() as u64;
            if length > most {
                return Err(FrameError::Large(most));
            }
            piece(bytes);
            Ok(())
        };
        let is_at_end = decompress(decoder, &self.payload, room, &mut checked)?;
        // A final block at the end of the message leaves nothing to complete.
        if !is_at_end {
            decompress(decoder, &TAIL, room, &mut checked)?;
        }
        self.forget();
        Ok(length)
    }

    fn forget(&mut self) {
        self.payload.clear();
        if self.payload.capacity() > MOST_KEPT {
            self.payload = Vec::new();
        }
    }
}

fn encoder(window: u8) -> Compress {
    Compress::new_with_window_bits(flate2::Compression::new(LEVEL), false, window)
}

/// Returns the compressed form of a payload that is not empty, without its tail.
fn compress<'r>(encoder: &mut Compress, payload: &[u8], room: &'r mut Vec<u8>) -> &'r [u8] {
    let (mut used, mut written) = (0, 0);
    // What cannot be compressed becomes a little longer.
    room.resize(room.len().max(payload.len() + payload.len() / 8 + 64), 0);
    loop {
        let (before_in, before_out) = (encoder.total_in(), encoder.total_out());
        let flushed = encoder.compress(&payload[used..], &mut room[written..], FlushCompress::Sync);
        flushed.expect("a stream that never ends takes all input");
        used += (encoder.total_in() - before_in) as usize;
        written += (encoder.total_out() - before_out) as usize;
        if used == payload.len() && written < room.len() {
            break;
        }
        room.resize(room.len() * 2, 0);
    }
    let encoded = &room[..written];
    encoded.strip_suffix(&TAIL).unwrap_or(encoded)
}

/// Decodes a part of a message. Returns whether it ended with a final block, behind which a stream of its own begins (section 7.2.3.4).
///
/// # Errors
/// If the part is malformed, or `piece` refuses what it is.
fn decompress(
    decoder: &mut Decompress,
    mut input: &[u8],
    room: &mut [u8],
    piece: &mut impl FnMut(&[u8]) -> Result<(), FrameError>,
) -> Result<bool, FrameError> {
    loop {
        let (before_in, before_out) = (decoder.total_in(), decoder.total_out());
        let status = decoder.decompress(input, room, FlushDecompress::Sync).map_err(|_| FrameError::Deflate)?;
        let used = (decoder.total_in() - before_in) as usize;
        let written = (decoder.total_out() - before_out) as usize;
        input = &input[used..];
        piece(&room[..written])?;
        match status {
            Status::StreamEnd => {
                decoder.reset(false);
                if input.is_empty() {
                    return Ok(true);
                }
            }
            Status::Ok | Status::BufError => {
                if (input.is_empty() && written < room.len()) || (used == 0 && written == 0) {
                    return Ok(false);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MOST: u64 = 1 << 20;
    const PLAIN: Agreement =
        Agreement { server_takes_over: true, client_takes_over: true, server_window: 15, client_window: 15 };
    const ALONE: Agreement = Agreement { server_takes_over: false, client_takes_over: false, ..PLAIN };

    fn encoded(compression: &mut MessageCompression, codecs: &mut MessageCodecs, payload: &[u8]) -> Vec<u8> {
        let mut message = [b"before", payload].concat();
        compression.encode(codecs, 6, &mut message);
        assert_eq!(&message[..6], b"before");
        message.split_off(6)
    }

    fn decoded(
        compression: &mut MessageCompression,
        codecs: &mut MessageCodecs,
        payload: &[u8],
    ) -> Result<Vec<u8>, FrameError> {
        let mut bytes = Vec::new();
        payload.chunks(7).for_each(|piece| compression.hold(piece));
        let length = compression.decode(codecs, MOST, |piece| bytes.extend_from_slice(piece))?;
        assert_eq!(length, bytes.len() as u64);
        Ok(bytes)
    }

    fn decode_one(agreement: Agreement, payload: &[u8]) -> Result<Vec<u8>, FrameError> {
        decoded(&mut MessageCompression::new(agreement), &mut MessageCodecs::default(), payload)
    }

    /// The examples of section 7.2.3.
    #[test]
    fn the_messages_of_the_rfc_are_decoded() {
        let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
        let mut codecs = MessageCodecs::default();
        let mut taking_over = MessageCompression::new(PLAIN);
        assert_eq!(decoded(&mut taking_over, &mut codecs, &hello), Ok(b"Hello".to_vec()));
        let again = [0xf2, 0x00, 0x11, 0x00, 0x00];
        assert_eq!(decoded(&mut taking_over, &mut codecs, &again), Ok(b"Hello".to_vec()), "of the window");
        assert_eq!(decode_one(ALONE, &again), Err(FrameError::Deflate), "there is no window");
        let stored = [0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00];
        assert_eq!(decode_one(ALONE, &stored), Ok(b"Hello".to_vec()));
        let last = [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
        for agreement in [PLAIN, ALONE] {
            let mut compression = MessageCompression::new(agreement);
            for end in [&[0x00][..], &[]] {
                let last = [&last[..], end].concat();
                assert_eq!(decoded(&mut compression, &mut codecs, &last), Ok(b"Hello".to_vec()), "{last:?}");
            }
            assert_eq!(decoded(&mut compression, &mut codecs, &hello), Ok(b"Hello".to_vec()), "the next message");
        }
        let two_blocks = [0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00];
        assert_eq!(decode_one(ALONE, &two_blocks), Ok(b"Hello".to_vec()));
        assert_eq!(decode_one(ALONE, &[0]), Ok(Vec::new()));
        assert_eq!(decode_one(ALONE, &[]), Ok(Vec::new()));
    }

    #[test]
    fn messages_refer_to_earlier_ones_only_where_that_was_agreed_on() {
        let payload: Vec<u8> = (0..2000_u32).flat_map(|n| (n * n).to_le_bytes()).collect();
        for (agreement, shrinks) in [(PLAIN, true), (ALONE, false)] {
            let (mut client, mut codecs) = (MessageCompression::new(agreement), MessageCodecs::default());
            let mut server = MessageCompression::new(agreement);
            let first = encoded(&mut client, &mut codecs, &payload);
            let second = encoded(&mut client, &mut codecs, &payload);
            assert_eq!(second.len() < first.len() / 4, shrinks, "{} and {} bytes", first.len(), second.len());
            assert_eq!(client.encoder.is_some(), shrinks, "memory of the connection's own");
            for message in [&first, &second, &vec![EMPTY], &second] {
                let expected = if *message == [EMPTY] { &[][..] } else { &payload };
                let read = decoded(&mut server, &mut codecs, message);
                assert!(read.is_ok_and(|read| read == expected), "{agreement:?}");
            }
            assert_eq!(server.decoder.is_some(), shrinks, "memory of the connection's own");
        }
        let (mut client, mut codecs) = (MessageCompression::new(PLAIN), MessageCodecs::default());
        assert_eq!(encoded(&mut client, &mut codecs, b""), [EMPTY]);
    }

    #[test]
    fn connections_of_a_thread_do_not_mix_their_windows() {
        let (mut one, mut other, mut codecs) =
            (MessageCompression::new(PLAIN), MessageCompression::new(PLAIN), MessageCodecs::default());
        let (mut of_one, mut of_other) = (MessageCompression::new(PLAIN), MessageCompression::new(PLAIN));
        for n in 0..20 {
            let (first, second) = (format!("to one, {n}").repeat(9), format!("to the other, {n}").repeat(9));
            let (to_one, to_other) =
                (encoded(&mut one, &mut codecs, first.as_bytes()), encoded(&mut other, &mut codecs, second.as_bytes()));
            assert_eq!(decoded(&mut of_other, &mut codecs, &to_other), Ok(second.into_bytes()));
            assert_eq!(decoded(&mut of_one, &mut codecs, &to_one), Ok(first.into_bytes()));
        }
    }

    #[test]
    fn an_encoder_stays_within_the_smallest_window() {
        let agreement = Agreement { client_window: 8, ..PLAIN };
        let (mut client, mut codecs) = (MessageCompression::new(agreement), MessageCodecs::default());
        // Random bytes shrink only where they refer to their last period, which has to be within 256 bytes.
        for (period, shrinks) in [(100, true), (200, true), (257, false), (300, false), (500, false)] {
            let once: Vec<u8> = (0..period).map(|_| fastrand::u8(..)).collect();
            let payload = once.repeat(20);
            let message = encoded(&mut client, &mut codecs, &payload);
            assert_eq!(message.len() < payload.len() * 9 / 10, shrinks, "{period}: {} bytes", message.len());
        }
    }

    #[test]
    fn bombs_and_malformed_messages_end_with_an_error() {
        let (mut client, mut codecs) = (MessageCompression::new(ALONE), MessageCodecs::default());
        let fits = encoded(&mut client, &mut codecs, &vec![0; MOST as usize]);
        assert!(fits.len() < 20_000, "{} bytes", fits.len());
        assert_eq!(decode_one(ALONE, &fits).map(|bytes| bytes.len()), Ok(MOST as usize));
        let bomb = encoded(&mut client, &mut codecs, &vec![0; MOST as usize + 1]);
        let mut most = 0;
        let mut server = MessageCompression::new(ALONE);
        server.hold(&bomb);
        let refused = server.decode(&mut codecs, MOST, |piece| most += piece.len());
        assert_eq!(refused, Err(FrameError::Large(MOST)));
        assert!(most <= MOST as usize && codecs.room.len() < 4 << 20, "{most} bytes");
        for bytes in [&[0xff; 20][..], &[0x06], &[0x00, 0x05, 0x00, 0xfa, 0xfe, 0x48]] {
            assert_eq!(decode_one(PLAIN, bytes), Err(FrameError::Deflate), "{bytes:?}");
        }
        // Final blocks without content, many of them.
        let blocks = [0x03, 0x00].repeat(100_000);
        assert_eq!(decode_one(PLAIN, &blocks), Ok(Vec::new()));
    }

    #[test]
    fn the_memory_of_a_large_message_is_given_back() {
        let (mut client, mut codecs) = (MessageCompression::new(ALONE), MessageCodecs::default());
        let payload: Vec<u8> = (0..200_000).map(|_| fastrand::u8(..)).collect();
        let message = encoded(&mut client, &mut codecs, &payload);
        assert!(message.len() > MOST_KEPT);
        let mut server = MessageCompression::new(ALONE);
        assert!(decoded(&mut server, &mut codecs, &message).is_ok_and(|read| read == payload));
        assert!(server.payload.capacity() <= MOST_KEPT, "{}", server.payload.capacity());
    }

    proptest! {
        /// Messages of any content and any window come back, whatever came before them on their connection.
        #[test]
        fn what_is_encoded_is_decoded(
            windows in (8_u8..=15, any::<bool>()),
            messages in prop::collection::vec(prop::collection::vec(0..4_u8, 0..3000), 1..6),
        ) {
            let (window, takes_over) = windows;
            let agreement = Agreement {
                server_takes_over: takes_over, client_takes_over: takes_over, server_window: window, client_window: window,
            };
            let (mut client, mut server) = (MessageCompression::new(agreement), MessageCompression::new(agreement));
            let mut codecs = MessageCodecs::default();
            for message in messages {
                let sent = encoded(&mut client, &mut codecs, &message);
                prop_assert_eq!(decoded(&mut server, &mut codecs, &sent), Ok(message));
            }
        }

        /// Bytes that mean nothing end in an error or in a message, and in no panic.
        #[test]
        fn no_bytes_are_too_much(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = decode_one(PLAIN, &bytes);
        }
    }
}
