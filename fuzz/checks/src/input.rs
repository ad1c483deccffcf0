//! An input, taken apart: a line that says how the rest is to be given, then the bytes of a connection.
//!
//! The first byte of the line is the target's to understand. Each further one cuts a piece off the connection's bytes:
//! its lowest 5 bits are a length, bit 5 is a mark that the target understands, and the upper two say what the length
//! counts: `C` is a piece of 3 bytes and `c` a marked one. What is left after the line's last byte is one more piece.
//!
//! In the connection's bytes, 0xff and a number repeat the byte before them 256 times as often, so that short inputs reach
//! long limits. What is not text has 0xfa 0xce and a number instead ([`Input::binary`]), since 0xff is common there.

/// What the lengths of pieces count, by the upper two bits.
const UNITS: [usize; 4] = [64, 1, 16, 256];
/// No more than this comes of repeating: somewhat more than any limit.
const LONGEST: usize = 160 * 1024;

/// An input, ready to be given to a reader.
pub struct Input {
    /// The option byte of the target.
    pub option: u8,
    cuts: Vec<u8>,
    /// All bytes of the connection.
    pub wire: Vec<u8>,
}

/// A part of the connection's bytes.
pub struct Piece<'i> {
    pub bytes: &'i [u8],
    pub marked: bool,
}

impl Input {
    pub fn new(bytes: &[u8]) -> Self {
        Self::with(bytes, &[0xff])
    }

    /// Takes an input apart whose bytes are not text.
    pub fn binary(bytes: &[u8]) -> Self {
        Self::with(bytes, &[0xfa, 0xce])
    }

    fn with(bytes: &[u8], sign: &[u8]) -> Self {
        let end = bytes.iter().position(|&b| b == b'\n').unwrap_or(bytes.len());
        let (line, rest) = bytes.split_at(end);
        let (option, cuts) = line.split_first().unwrap_or((&b'@', &[]));
        Self { option: *option, cuts: cuts.to_vec(), wire: repeat(rest.get(1..).unwrap_or_default(), sign) }
    }

    /// The connection's bytes in pieces, of which some may be empty.
    pub fn pieces(&self) -> Vec<Piece<'_>> {
        let mut rest = self.wire.as_slice();
        let mut pieces: Vec<_> = self
            .cuts
            .iter()
            .map(|&cut| {
                let length = usize::from(cut & 0x1f) * UNITS[usize::from(cut >> 6)];
                let (bytes, after) = rest.split_at(length.min(rest.len()));
                rest = after;
                Piece { bytes, marked: cut & 0x20 != 0 }
            })
            .collect();
        pieces.push(Piece { bytes: rest, marked: false });
        pieces
    }

    /// The connection's bytes in pieces that end where a mark is.
    pub fn at_marks(&self) -> Vec<Piece<'_>> {
        let (mut all, mut rest, mut length) = (Vec::new(), self.wire.as_slice(), 0);
        for piece in self.pieces() {
            length += piece.bytes.len();
            if piece.marked {
                let (bytes, after) = rest.split_at(std::mem::take(&mut length));
                rest = after;
                all.push(Piece { bytes, marked: true });
            }
        }
        all.push(Piece { bytes: rest, marked: false });
        all
    }

    /// The connection's bytes in one piece.
    pub fn whole(&self) -> Vec<Piece<'_>> {
        vec![Piece { bytes: &self.wire, marked: false }]
    }
}

/// Repeats the byte in front of each `sign` 256 times as often as the number behind it says.
fn repeat(bytes: &[u8], sign: &[u8]) -> Vec<u8> {
    let mut all: Vec<u8> = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&byte, after)) = rest.split_first() {
        match (rest.strip_prefix(sign), all.last()) {
            (Some([times, after @ ..]), Some(&last)) => {
                let room = LONGEST.saturating_sub(all.len());
                all.resize(all.len() + room.min(usize::from(*times) * 256), last);
                rest = after;
            }
            _ => {
                all.push(byte);
                rest = after;
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_what_it_says() {
        let input = Input::new(b"xBc@A\nabcdefg\xff\x01hi");
        assert_eq!((input.option, input.wire.len()), (b'x', 265));
        let pieces: Vec<_> = input.pieces().iter().map(|piece| (piece.bytes.len(), piece.marked)).collect();
        assert_eq!(pieces, [(2, false), (3, true), (0, false), (1, false), (259, false)]);
        assert!(input.wire.ends_with(b"ggghi"));
        let binary = Input::binary(b"x\na\xff\x01\xfa\xce\x01\xfa");
        assert_eq!((binary.wire.len(), binary.wire[258]), (260, 1));
        assert!(Input::new(b"").wire.is_empty() && Input::new(b"x").wire.is_empty());
    }
}
