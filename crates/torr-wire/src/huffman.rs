//! The Huffman code of strings in compressed header sections (RFC 7541, appendix B), which HPACK and QPACK share.

use thiserror::Error;

/// A string that is not valid in the Huffman code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("invalid Huffman code")]
pub struct InvalidHuffman;

/// The end of a string, which must not stand in one.
const EOS: u16 = 256;
const LONGEST: usize = 30;

/// The length in bits of each symbol's code. Codes of one length follow each other in the order of their symbols, and those of
/// the next length follow them, so that the lengths define all codes.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30, 
];

static CODE: Code = Code::new();

/// The decoding tables, computed from the lengths.
struct Code {
    /// By the next 8 bits, the symbol and the length of its code; 0 if that is longer.
    short: [(u8, u8); 256],
    /// By length, the first code that is not as short as this, with zeros behind up to 32 bits.
    beyond: [u64; LONGEST + 1],
    /// By length, its first code.
    first: [u32; LONGEST + 1],
    /// By length, where its symbols begin.
    begin: [usize; LONGEST + 1],
    /// All symbols in the order of their codes.
    symbols: [u16; 257],
}

impl Code {
    const fn new() -> Self {
        let mut code = Self {
            short: [(0, 0); 256],
            beyond: [0; LONGEST + 1],
            first: [0; LONGEST + 1],
            begin: [0; LONGEST + 1],
            symbols: [0; 257],
        };
        let (mut length, mut next, mut count) = (1, 0u32, 0);
        while length <= LONGEST {
            next <<= 1;
            (code.first[length], code.begin[length]) = (next, count);
            let mut symbol = 0;
            while symbol < 257 {
                if LENGTHS[symbol] as usize == length {
                    code.symbols[count] = symbol as u16;
                    if length <= 8 {
                        let (mut at, end) = (next << (8 - length), (next + 1) << (8 - length));
                        while at < end {
                            code.short[at as usize] = (symbol as u8, length as u8);
                            at += 1;
                        }
                    }
                    (next, count) = (next + 1, count + 1);
                }
                symbol += 1;
            }
            code.beyond[length] = (next as u64) << (32 - length);
            length += 1;
        }
        code
    }

    /// The symbol at the front of these 32 bits whose code has more than 8, and that code's length.
    #[cold]
    fn long(&self, bits: u32) -> (u16, u32) {
        let is_longer = |&length: &usize| u64::from(bits) >= self.beyond[length];
        let length = 9 + (9..LONGEST).take_while(is_longer).count();
        let nth = (bits >> (32 - length)) - self.first[length];
        (self.symbols[self.begin[length] + nth as usize], length as u32)
    }
}

/// Appends the decoded string to `out`, which has at most 8 bytes for 5 of the encoded ones.
///
/// # Errors
/// [`InvalidHuffman`] if the end is not filled up with ones, less than a byte of them, or the string has the code of its end.
#[inline]
pub fn decode(mut encoded: &[u8], out: &mut Vec<u8>) -> Result<(), InvalidHuffman> {
    // The next bits, from the top.
    let (mut next, mut count) = (0u64, 0u32);
    loop {
        if count < 32 {
            if let Some((four, rest)) = encoded.split_first_chunk::<4>() {
                next |= u64::from(u32::from_be_bytes(*four)) << (32 - count);
                (count, encoded) = (count + 32, rest);
            } else {
                while let Some((byte, rest)) = encoded.split_first() {
                    next |= u64::from(*byte) << (56 - count);
                    (count, encoded) = (count + 8, rest);
                }
            }
        }
        if count == 0 {
            return Ok(());
        }
        let filled = if count < 32 { next | u64::MAX >> count } else { next };
        let (symbol, length) = match CODE.short[(filled >> 56) as usize] {
            (_, 0) => CODE.long((filled >> 32) as u32),
            (symbol, length) => (symbol.into(), length.into()),
        };
        if length > count {
            let ones = count < 8 && next >> (64 - count) == (1 << count) - 1;
            return if ones { Ok(()) } else { Err(InvalidHuffman) };
        }
        if symbol == EOS {
            return Err(InvalidHuffman);
        }
        out.push(symbol as u8);
        (next, count) = (next << length, count - length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(encoded: &[u8]) -> Result<Vec<u8>, InvalidHuffman> {
        let mut out = Vec::new();
        decode(encoded, &mut out).map(|()| out)
    }

    /// Encodes by the lengths alone, bit by bit.
    fn encode(text: &[u8]) -> Vec<u8> {
        let mut bits: Vec<bool> = Vec::new();
        for &byte in text {
            let length = usize::from(LENGTHS[usize::from(byte)]);
            let nth = CODE.symbols[CODE.begin[length]..].iter().position(|&s| s == u16::from(byte)).unwrap();
            let code = CODE.first[length] + nth as u32;
            bits.extend((0..length).rev().map(|bit| code >> bit & 1 == 1));
        }
        let byte = |bits: &[bool]| (0..8).fold(0, |byte, n| byte << 1 | u8::from(*bits.get(n).unwrap_or(&true)));
        bits.chunks(8).map(byte).collect()
    }

    #[test]
    fn examples_of_the_standard() {
        for (encoded, text) in [
            (&b"\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff"[..], "www.example.com"),
            (b"\xa8\xeb\x10\x64\x9c\xbf", "no-cache"),
            (b"\x25\xa8\x49\xe9\x5b\xb8\xe8\xb4\xbf", "custom-value"),
            (b"\xd0\x7a\xbe\x94\x10\x54\xd4\x44\xa8\x20\x05\x95\x04\x0b\x81\x66\xe0\x82\xa6\x2d\x1b\xff", DATE),
            (b"\x64\x0e\xff", "307"),
            (b"", ""),
        ] {
            assert_eq!(decoded(encoded).unwrap(), text.as_bytes());
            assert_eq!(encode(text.as_bytes()), encoded, "{text}");
        }
    }

    const DATE: &str = "Mon, 21 Oct 2013 20:13:21 GMT";

    #[test]
    fn every_byte_at_every_position() {
        let all: Vec<u8> = (0..=255).collect();
        for from in 0..all.len() {
            let text = [&all[from..], &all[..from]].concat();
            assert_eq!(decoded(&encode(&text)).unwrap(), text);
            assert_eq!(decoded(&encode(&text[..1])).unwrap(), &text[..1]);
        }
    }

    #[test]
    fn bad_ends() {
        // The end of a string spelt out, a whole byte of filling, filling of zeros, a code that is cut off.
        for bad in [&b"\xff\xff\xff\xff"[..], b"\x64\x0e\xff\xff", b"\xff", b"\x00\x00", b"\xff\xc0", b"\xfe"] {
            assert_eq!(decoded(bad), Err(InvalidHuffman), "{bad:x?}");
        }
    }
}
