//! The decoding of compressed content.

use std::io::Read;

/// A content coding (RFC 9110, section 8.4.1; RFC 7932; RFC 8878).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
    /// One that is not known here.
    Other,
}

impl Encoding {
    /// Returns the coding of a `Content-Encoding` field, if there is one.
    pub fn of(value: &[u8]) -> Option<Self> {
        let value = value.trim_ascii();
        let is = |name: &str| value.eq_ignore_ascii_case(name.as_bytes());
        match () {
            () if value.is_empty() || is("identity") => None,
            () if is("gzip") || is("x-gzip") => Some(Self::Gzip),
            () if is("deflate") => Some(Self::Deflate),
            () if is("br") => Some(Self::Brotli),
            () if is("zstd") => Some(Self::Zstd),
            () => Some(Self::Other),
        }
    }

    /// Returns the decoded bytes. `None` if they are more than `most`, or malformed.
    pub fn decode(self, body: &[u8], most: usize) -> Option<Vec<u8>> {
        match self {
            Self::Gzip => all(flate2::read::MultiGzDecoder::new(body), most),
            Self::Deflate => all(flate2::read::ZlibDecoder::new(body), most),
            Self::Brotli => all(brotli_decompressor::Decompressor::new(body, 4096), most),
            Self::Zstd => all(ruzstd::decoding::StreamingDecoder::new(body).ok()?, most),
            Self::Other => None,
        }
    }
}

fn all(decoder: impl Read, most: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    decoder.take(most as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() <= most).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn every_coding_gives_back_what_went_in() {
        let text = b"hello, hello, hello".repeat(100);
        let mut brotli = Vec::new();
        brotli::BrotliCompress(&mut &text[..], &mut brotli, &brotli::enc::BrotliEncoderParams::default()).unwrap();
        let zstd = ruzstd::encoding::compress_to_vec(&text[..], ruzstd::encoding::CompressionLevel::Fastest);
        for (name, bytes) in [("gzip", gzip(&text)), ("br", brotli), ("ZSTD ", zstd)] {
            let encoding = Encoding::of(name.as_bytes()).unwrap();
            assert_eq!(encoding.decode(&bytes, 10_000).as_ref(), Some(&text), "{name}");
            assert_eq!(encoding.decode(&bytes[..bytes.len() / 2], 10_000), None, "{name}, cut in half");
            assert_eq!(encoding.decode(&bytes, 1000), None, "{name}, more than is allowed");
        }
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let bomb = gzip(&vec![0; 50_000_000]);
        assert!(bomb.len() < 100_000);
        assert_eq!(Encoding::Gzip.decode(&bomb, 1_000_000), None);
    }

    #[test]
    fn what_was_not_encoded_is_left_alone() {
        assert_eq!((Encoding::of(b""), Encoding::of(b" identity")), (None, None));
        assert_eq!(Encoding::of(b"gzip, br"), Some(Encoding::Other));
    }
}
