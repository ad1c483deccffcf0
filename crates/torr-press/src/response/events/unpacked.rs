//! The decoding of a compressed stream, piece by piece.

use crate::response::decode::Encoding;
use std::io::{self, Write};

/// A decoder that passes on what it has decoded with each piece. Only its window is in memory.
pub(super) enum Unpacker {
    Gzip(Box<flate2::write::MultiGzDecoder<Decoded>>),
    Deflate(Box<flate2::write::ZlibDecoder<Decoded>>),
    Brotli(Box<brotli_decompressor::DecompressorWriter<Decoded>>),
}

/// The bytes of a piece that are decoded at a time, so that little of a bomb is in memory.
const STEP: usize = 256;
/// The most bytes that these may decode to: four times what gzip can do, and brotli does with text.
const MOST_OF_A_STEP: usize = 1024 * 1024;

/// What a step has decoded to, up to the limit.
#[derive(Debug, Default)]
pub(super) struct Decoded(Vec<u8>);

impl Write for Decoded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MOST_OF_A_STEP {
            return Err(io::Error::other("a few bytes decode to too many"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl std::fmt::Debug for Unpacker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Gzip(_) => "gzip",
            Self::Deflate(_) => "deflate",
            Self::Brotli(_) => "br",
        })
    }
}

impl Unpacker {
    /// Returns the decoder of a coding; `None` if it cannot be decoded piece by piece.
    pub fn of(encoding: Encoding) -> Option<Self> {
        match encoding {
            Encoding::Gzip => Some(Self::Gzip(Box::new(flate2::write::MultiGzDecoder::new(Decoded::default())))),
            Encoding::Deflate => Some(Self::Deflate(Box::new(flate2::write::ZlibDecoder::new(Decoded::default())))),
            Encoding::Brotli => {
                Some(Self::Brotli(Box::new(brotli_decompressor::DecompressorWriter::new(Decoded::default(), 4096))))
            }
            Encoding::Zstd | Encoding::Other => None,
        }
    }

    /// Decodes a piece, and passes what it means to `each`.
    ///
    /// # Errors
    /// Returns an error if the bytes are malformed, or a few of them decode to very many.
    pub fn unpack(&mut self, piece: &[u8], mut each: impl FnMut(&[u8])) -> io::Result<()> {
        for part in piece.chunks(STEP) {
            let decoded = match self {
                Self::Gzip(decoder) => written(decoder, part).map(|()| decoder.get_mut()),
                Self::Deflate(decoder) => written(decoder, part).map(|()| decoder.get_mut()),
                Self::Brotli(decoder) => written(decoder, part).map(|()| decoder.get_mut()),
            }?;
            each(&decoded.0);
            decoded.0.clear();
        }
        Ok(())
    }
}

fn written(decoder: &mut impl Write, part: &[u8]) -> io::Result<()> {
    decoder.write_all(part)?;
    decoder.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(mut unpacker: Unpacker, bytes: &[u8], size: usize) -> Vec<u8> {
        let mut all = Vec::new();
        for piece in bytes.chunks(size) {
            unpacker.unpack(piece, |part| all.extend_from_slice(part)).expect("the bytes are well-formed");
        }
        all
    }

    #[test]
    fn what_a_server_flushes_is_decoded_at_once() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        let mut unpacker = Unpacker::of(Encoding::Gzip).expect("gzip can be decoded");
        for event in ["data: 1\n\n", "data: 2\n\n"] {
            encoder.write_all(event.as_bytes()).expect("memory takes it");
            encoder.flush().expect("memory takes it");
            let mut seen = Vec::new();
            unpacker.unpack(&std::mem::take(encoder.get_mut()), |part| seen.extend_from_slice(part)).expect("gzip");
            assert_eq!(String::from_utf8_lossy(&seen), event);
        }
    }

    #[test]
    fn pieces_of_any_size_are_decoded() {
        let text = b"data: hello\n\n".repeat(100);
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        zlib.write_all(&text).expect("memory takes it");
        let mut brotli = Vec::new();
        brotli::BrotliCompress(&mut &text[..], &mut brotli, &brotli::enc::BrotliEncoderParams::default())
            .expect("memory takes it");
        for (encoding, bytes) in [(Encoding::Deflate, zlib.finish().expect("memory")), (Encoding::Brotli, brotli)] {
            for size in [1, 7, 1000] {
                let unpacker = Unpacker::of(encoding).expect("it can be decoded");
                assert_eq!(unpacked(unpacker, &bytes, size), text, "{encoding:?} in pieces of {size}");
            }
        }
        assert!(Unpacker::of(Encoding::Zstd).is_none());
        let mut bomb = Vec::new();
        brotli::BrotliCompress(
            &mut &vec![b'x'; 64 * 1024 * 1024][..],
            &mut bomb,
            &brotli::enc::BrotliEncoderParams::default(),
        )
        .expect("memory takes it");
        let mut unpacker = Unpacker::of(Encoding::Brotli).expect("brotli can be decoded");
        assert!(unpacker.unpack(&bomb, |part| assert!(part.len() <= MOST_OF_A_STEP)).is_err(), "{} bytes", bomb.len());
        let mut unpacker = Unpacker::of(Encoding::Gzip).expect("gzip can be decoded");
        assert!(unpacker.unpack(b"data: plain text, which is no gzip\n\n", |_| {}).is_err());
    }
}
