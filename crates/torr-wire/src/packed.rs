//! Numbers and strings as HPACK and QPACK pack them (RFC 7541, section 5; RFC 9204, section 4.1).

use crate::huffman::{self, InvalidHuffman};

/// The defect of a packed number or string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackedError {
    /// It ends too early.
    Truncated,
    /// A number is larger than any that means something.
    Number,
    /// A string is not valid in the Huffman code.
    Huffman,
}

impl From<InvalidHuffman> for PackedError {
    fn from(InvalidHuffman: InvalidHuffman) -> Self {
        Self::Huffman
    }
}

/// Takes a number whose first bits stand in the lower `prefix` bits of the first byte (RFC 7541, section 5.1).
///
/// # Errors
/// [`PackedError`].
#[inline]
pub fn number(input: &mut &[u8], prefix: u32) -> Result<usize, PackedError> {
    let (&first, rest) = input.split_first().ok_or(PackedError::Truncated)?;
    *input = rest;
    let most = (1 << prefix) - 1;
    match usize::from(first) & most {
        number if number == most => long_number(input, number),
        number => Ok(number),
    }
}

fn long_number(input: &mut &[u8], mut number: usize) -> Result<usize, PackedError> {
    // Nothing that is not refused anyway takes more than 4 bytes.
    for shift in [0, 7, 14, 21] {
        let (&byte, rest) = input.split_first().ok_or(PackedError::Truncated)?;
        *input = rest;
        number += usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(PackedError::Number)
}

/// Takes a string whose length has a prefix of so many bits, behind the bit that tells of the Huffman code, and appends it to `out`.
///
/// # Errors
/// [`PackedError`].
#[inline]
pub fn string(input: &mut &[u8], prefix: u32, out: &mut Vec<u8>) -> Result<(), PackedError> {
    let is_huffman = input.first().is_some_and(|first| first >> prefix & 1 == 1);
    let length = number(input, prefix)?;
    let (string, rest) = input.split_at_checked(length).ok_or(PackedError::Truncated)?;
    *input = rest;
    if is_huffman {
        return Ok(huffman::decode(string, out)?);
    }
    out.extend_from_slice(string);
    Ok(())
}

/// Appends a number, whose first bits stand in the lower `prefix` bits of a byte with the bits of `form` above them.
pub fn write_number(out: &mut Vec<u8>, prefix: u32, form: u8, number: usize) {
    let most = (1 << prefix) - 1;
    if number < most {
        return out.push(form | number as u8);
    }
    out.push(form | most as u8);
    let mut rest = number - most;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Appends a string without Huffman code: decoding costs the server least so.
pub fn write_string(bytes: &[u8], prefix: u32, form: u8, out: &mut Vec<u8>) {
    write_number(out, prefix, form, bytes.len());
    out.extend_from_slice(bytes);
}
