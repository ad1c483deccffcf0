//! The decoding of field sections (RFC 9204, section 4.5).

use super::statics::STATICS;
use crate::http3::LARGEST_SECTION;
use crate::http3::error::{ErrorCode, Http3Error};
use crate::packed::{PackedError, number, string};

/// The size in bytes of a field beside its name and value, by which sections are limited (RFC 9114, section 4.2.2).
const OVERHEAD: usize = 32;

/// The defect of an encoded field section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QpackError {
    /// The section ends within a field.
    Truncated,
    /// A number is larger than any that means something.
    Number,
    /// An index beyond the static table.
    Index,
    /// A reference to the dynamic table, which has no room.
    Dynamic,
    /// A string that is not valid in the Huffman code.
    Huffman,
    /// A section above the limit.
    TooLarge,
}

impl From<PackedError> for QpackError {
    fn from(error: PackedError) -> Self {
        match error {
            PackedError::Truncated => Self::Truncated,
            PackedError::Number => Self::Number,
            PackedError::Huffman => Self::Huffman,
        }
    }
}

impl QpackError {
    /// Returns the error as text.
    fn what(self) -> &'static str {
        match self {
            Self::Truncated => "QPACK: the field section is incomplete",
            Self::Number => "QPACK: integer too large",
            Self::Index => "QPACK: invalid table index",
            Self::Dynamic => "QPACK: reference to a dynamic table that has no room",
            Self::Huffman => "QPACK: invalid Huffman code",
            Self::TooLarge => "the header section is larger than 64 KiB",
        }
    }
}

impl From<QpackError> for Http3Error {
    fn from(error: QpackError) -> Self {
        let code = match error {
            QpackError::TooLarge => ErrorCode::EXCESSIVE_LOAD,
            _ => ErrorCode::QPACK_DECOMPRESSION_FAILED,
        };
        Self { code, what: error.what() }
    }
}

/// Gives the names and values of a section to `field`, one after another. `room` is memory for strings, whose content does not
/// matter.
///
/// # Errors
/// [`QpackError`]; fields before the defect have been given.
#[inline]
pub fn decode(section: &[u8], room: &mut Vec<u8>, field: impl FnMut(&[u8], &[u8])) -> Result<(), QpackError> {
    decode_up_to(LARGEST_SECTION, section, room, field)
}

/// Decodes as [`decode`], with a limit of the section of its own, in bytes.
///
/// # Errors
/// [`QpackError`]; fields before the defect have been given.
#[inline]
pub fn decode_up_to(
    largest: usize,
    mut section: &[u8],
    room: &mut Vec<u8>,
    mut field: impl FnMut(&[u8], &[u8]),
) -> Result<(), QpackError> {
    // The section was encoded without the dynamic table if it requires no insertion. The base does not matter then.
    if number(&mut section, 8)? != 0 {
        return Err(QpackError::Dynamic);
    }
    number(&mut section, 7)?;
    let mut size = Size { largest, counted: 0 };
    while let Some(&first) = section.first() {
        room.clear();
        if first & 0x80 != 0 {
            let (name, value) = indexed(&mut section, first & 0x40 != 0, 6)?;
            size.count(name.len() + value.len())?;
            field(name.as_bytes(), value.as_bytes());
        } else if first & 0x40 != 0 {
            let (name, _) = indexed(&mut section, first & 0x10 != 0, 4)?;
            string(&mut section, 7, room)?;
            size.count(name.len() + room.len())?;
            field(name.as_bytes(), room);
        } else if first & 0x20 != 0 {
            string(&mut section, 3, room)?;
            let name = room.len();
            string(&mut section, 7, room)?;
            size.count(room.len())?;
            let (name, value) = room.split_at(name);
            field(name, value);
        } else {
            // Both forms that are left count from the base of the dynamic table.
            return Err(QpackError::Dynamic);
        }
    }
    Ok(())
}

/// The size of the fields so far, and its limit, in bytes.
struct Size {
    largest: usize,
    counted: usize,
}

impl Size {
    fn count(&mut self, field: usize) -> Result<(), QpackError> {
        self.counted += field + OVERHEAD;
        if self.counted > self.largest { Err(QpackError::TooLarge) } else { Ok(()) }
    }
}

#[inline]
fn indexed(section: &mut &[u8], is_static: bool, prefix: u32) -> Result<(&'static str, &'static str), QpackError> {
    let index = number(section, prefix)?;
    if !is_static {
        return Err(QpackError::Dynamic);
    }
    STATICS.get(index).copied().ok_or(QpackError::Index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fields(section: &[u8]) -> Result<String, QpackError> {
        let mut fields = String::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        decode(section, &mut Vec::new(), |name, value| fields += &format!("{}={}\n", text(name), text(value)))?;
        Ok(fields)
    }

    #[test]
    fn all_forms_without_a_dynamic_table() {
        // RFC 9204, appendix B.1.
        assert_eq!(fields(b"\x00\x00\x51\x0b/index.html").as_deref(), Ok(":path=/index.html\n"));
        assert_eq!(fields(b"\x00\x00\xd9").as_deref(), Ok(":status=200\n"));
        assert_eq!(fields(b"\x00\x00\xff\x23").as_deref(), Ok("x-frame-options=sameorigin\n"));
        assert_eq!(fields(b"\x00\x00\x23abc\x02de").as_deref(), Ok("abc=de\n"));
        assert_eq!(fields(b"\x00\x00\x27\x00abcdefg\x00").as_deref(), Ok("abcdefg=\n"));
        // A name and a value in the Huffman code, and one that is never to be indexed.
        let huffman = b"\x00\x00\x3a\x2f\x91\x82\x64\x02";
        assert_eq!(fields(huffman), Err(QpackError::Huffman), "not filled up with ones");
        assert_eq!(fields(b"\x00\x00\x5f\x09\x82\x64\x02").as_deref(), Ok(":status=302\n"));
        assert_eq!(fields(b"\x00\x00\x7f\x09\x82\x64\x02").as_deref(), Ok(":status=302\n"));
        assert_eq!(fields(b"\x00\xc5").as_deref(), Ok(""), "the base does not matter");
    }

    #[test]
    fn defects_of_sections() {
        let long = [b"\x00\x00\x21x\x7f\x80\x80\x04".as_slice(), &vec![b'y'; 70_000]].concat();
        let many = [b"\x00\x00".as_slice(), &[0xd9; 2000]].concat();
        for (section, error) in [
            (&b""[..], QpackError::Truncated),
            (b"\x00", QpackError::Truncated),
            (b"\x01\x00\xd9", QpackError::Dynamic),
            (b"\x00\x00\x80", QpackError::Dynamic),
            (b"\x00\x00\x40\x00", QpackError::Dynamic),
            (b"\x00\x00\x10", QpackError::Dynamic),
            (b"\x00\x00\x00\x00", QpackError::Dynamic),
            (b"\x00\x00\xff\x24", QpackError::Index),
            (b"\x00\x00\xff\xff\xff\xff\xff\xff", QpackError::Number),
            (b"\x00\x00\x51\x0b/index", QpackError::Truncated),
            (b"\x00\x00\x21", QpackError::Truncated),
            (b"\x00\x00\x21x", QpackError::Truncated),
            (b"\x00\x00\x51\x81\xff", QpackError::Huffman),
            (&long, QpackError::TooLarge),
            (&many, QpackError::TooLarge),
        ] {
            assert_eq!(fields(section), Err(error), "{:?}", &section[..section.len().min(9)]);
        }
    }

    proptest! {
        #[test]
        fn whatever_bytes_come_sections_have_a_limit(mut section in prop::collection::vec(any::<u8>(), 0..400)) {
            if section.len() > 1 {
                (section[0], section[1]) = (0, 0);
            }
            let mut size = 0;
            let _ = decode(&section, &mut Vec::new(), |name, value| size += name.len() + value.len() + OVERHEAD);
            prop_assert!(size <= LARGEST_SECTION);
        }
    }
}
