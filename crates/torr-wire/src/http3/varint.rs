//! Integers of variable length (RFC 9000, section 16): the upper two bits of the first byte tell whether there are 1, 2, 4 or 8.

/// The largest number that can be written.
pub const MAX: u64 = (1 << 62) - 1;

/// Appends a number, in as few bytes as it needs.
///
/// # Panics
/// If the number is larger than [`MAX`].
pub fn write(number: u64, out: &mut Vec<u8>) {
    match number {
        0..=0x3f => out.push(number as u8),
        0x40..=0x3fff => out.extend_from_slice(&(number as u16 | 1 << 14).to_be_bytes()),
        0x4000..=0x3fff_ffff => out.extend_from_slice(&(number as u32 | 2 << 30).to_be_bytes()),
        0x4000_0000..=MAX => out.extend_from_slice(&(number | 3 << 62).to_be_bytes()),
        _ => panic!("{number} has more than 62 bits"),
    }
}

/// Returns how many bytes the number has that begins with this byte: 1, 2, 4 or 8.
#[inline]
pub fn len(first: u8) -> usize {
    1 << (first >> 6)
}

/// Returns the number at the front of the bytes, and how many bytes it takes; `None` if the number is incomplete.
#[inline]
pub fn read(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    let len = len(first);
    let rest = bytes.get(1..len)?;
    Some((rest.iter().fold(u64::from(first & 0x3f), |number, &byte| number << 8 | u64::from(byte)), len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn examples_of_the_standard() {
        for (bytes, number) in [
            (&b"\xc2\x19\x7c\x5e\xff\x14\xe8\x8c"[..], 151_288_809_941_952_652),
            (b"\x9d\x7f\x3e\x7d", 494_878_333),
            (b"\x7b\xbd", 15_293),
            (b"\x25", 37),
        ] {
            assert_eq!(read(bytes), Some((number, bytes.len())));
            let mut out = Vec::new();
            write(number, &mut out);
            assert_eq!(out, bytes);
        }
        assert_eq!(read(b"\x40\x25"), Some((37, 2)), "more bytes than needed are allowed");
    }

    proptest! {
        #[test]
        fn a_number_is_read_as_it_was_written(bits in 0_u32..62, noise: u64, behind: Vec<u8>) {
            let number = noise & (MAX >> (61 - bits));
            let mut out = Vec::new();
            write(number, &mut out);
            for cut in 0..out.len() {
                prop_assert_eq!(read(&out[..cut]), None);
            }
            let len = out.len();
            out.extend_from_slice(&behind);
            prop_assert_eq!(read(&out), Some((number, len)));
        }
    }
}
