//! Unpacks heads.

use super::table::Table;
use super::{HpackError, MOST, OVERHEAD, TABLE};
use torr_wire::packed::{number, string};

/// One connection's unpacking.
#[derive(Debug, Default)]
pub struct Decoder {
    table: Table,
}

impl Decoder {
    /// Restores the state of a new connection.
    pub fn reset(&mut self) {
        self.table.reset();
    }

    /// Returns the bytes of memory that are allocated for names and values.
    pub fn held(&self) -> usize {
        self.table.bytes.capacity()
    }

    /// Gives the names and values of a head, one after another.
    ///
    /// # Errors
    /// The connection is of no more use then, since the table may differ from the server's.
    #[inline]
    pub fn decode(&mut self, mut block: &[u8], mut field: impl FnMut(&[u8], &[u8])) -> Result<(), HpackError> {
        let table = &mut self.table;
        let mut size = 0;
        let mut count = |field: usize| {
            size += field + OVERHEAD;
            if size > MOST { Err(HpackError::TooLarge) } else { Ok(()) }
        };
        let mut begun = false;
        while let Some(&first) = block.first() {
            // The forms of RFC 7541, section 6.
            if first & 0x80 != 0 {
                let index = number(&mut block, 7)?;
                let (name, value) = table.field(index)?;
                count(name.len() + value.len())?;
                field(name, value);
            } else if first & 0xe0 == 0x20 {
                if begun {
                    return Err(HpackError::Resize);
                }
                table.resize(number(&mut block, 5)?)?;
                continue;
            } else {
                let indexed = first & 0x40 != 0;
                let start = table.bytes.len();
                match number(&mut block, if indexed { 6 } else { 4 })? {
                    0 => string(&mut block, 7, &mut table.bytes)?,
                    index => table.copy_name(index)?,
                }
                let name = table.bytes.len() - start;
                string(&mut block, 7, &mut table.bytes)?;
                count(table.bytes.len() - start)?;
                let (n, v) = table.bytes[start..].split_at(name);
                field(n, v);
                if indexed {
                    table.insert(start..table.bytes.len(), name);
                } else {
                    table.bytes.truncate(start);
                }
            }
            begun = true;
        }
        table.bytes.shrink_to(2 * TABLE);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(decoder: &mut Decoder, block: &[u8]) -> Result<String, HpackError> {
        let mut fields = String::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        decoder.decode(block, |name, value| fields += &format!("{}={}\n", text(name), text(value)))?;
        Ok(fields)
    }

    /// RFC 7541, appendix C.6, whose table holds 256 bytes.
    #[test]
    fn responses_of_the_standard() {
        let mut decoder = Decoder::default();
        decoder.table.resize(256).unwrap();
        let date = "date=Mon, 21 Oct 2013 20:13:21 GMT\n";
        let location = "location=https://www.example.com\n";
        let first = b"\x48\x82\x64\x02\x58\x85\xae\xc3\x77\x1a\x4b\x61\x96\xd0\x7a\xbe\x94\x10\x54\xd4\x44\xa8\x20\x05\
            \x95\x04\x0b\x81\x66\xe0\x82\xa6\x2d\x1b\xff\x6e\x91\x9d\x29\xad\x17\x18\x63\xc7\x8f\x0b\x97\xc8\xe9\xae\x82\
            \xae\x43\xd3";
        let expected = format!(":status=302\ncache-control=private\n{date}{location}");
        assert_eq!(fields(&mut decoder, first).unwrap(), expected);
        assert_eq!(decoder.table.field(62).unwrap().0, b"location");
        // The new status displaces the oldest field, which is the old one.
        let expected = format!(":status=307\ncache-control=private\n{date}{location}");
        assert_eq!(fields(&mut decoder, b"\x48\x83\x64\x0e\xff\xc1\xc0\xbf").unwrap(), expected);
        let third = b"\x88\xc1\x61\x96\xd0\x7a\xbe\x94\x10\x54\xd4\x44\xa8\x20\x05\x95\x04\x0b\x81\x66\xe0\x84\xa6\x2d\
            \x1b\xff\xc0\x5a\x83\x9b\xd9\xab\x77\xad\x94\xe7\x82\x1d\xd7\xf2\xe6\xc7\xb3\x35\xdf\xdf\xcd\x5b\x39\x60\xd5\
            \xaf\x27\x08\x7f\x36\x72\xc1\xab\x27\x0f\xb5\x29\x1f\x95\x87\x31\x60\x65\xc0\x03\xed\x4e\xe5\xb1\x06\x3d\x50\
            \x07";
        let expected = format!(
            ":status=200\ncache-control=private\ndate=Mon, 21 Oct 2013 20:13:22 GMT\n{location}content-encoding=gzip\n\
             set-cookie=foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1\n"
        );
        assert_eq!(fields(&mut decoder, third).unwrap(), expected);
        assert_eq!(decoder.table.field(62).unwrap().0, b"set-cookie");
        assert_eq!(decoder.table.field(64).unwrap().0, b"date");
        assert_eq!(decoder.table.field(65), Err(HpackError::Index));
    }

    #[test]
    fn a_table_lives_on_however_much_goes_through_it() {
        let mut decoder = Decoder::default();
        let mut expected: Vec<String> = Vec::new();
        for n in 0..5000 {
            let value = format!("{n:04}").repeat(n % 7);
            let block = [b"\x40\x01x".as_slice(), &[value.len() as u8], value.as_bytes()].concat();
            assert_eq!(fields(&mut decoder, &block).unwrap(), format!("x={value}\n"));
            expected.push(value);
            let (mut size, mut index) = (0, 62);
            for value in expected.iter().rev() {
                size += 1 + value.len() + OVERHEAD;
                if size > 4096 {
                    break;
                }
                assert_eq!(decoder.table.field(index).unwrap(), (&b"x"[..], value.as_bytes()));
                index += 1;
            }
            assert_eq!(decoder.table.field(index), Err(HpackError::Index));
            assert!(decoder.table.bytes.len() <= 3 * 4096);
        }
    }

    #[test]
    fn what_cannot_be_unpacked() {
        let long = [b"\x00\x01x\x7f\x80\x80\x04".as_slice(), &vec![b'y'; 70_000]].concat();
        let bomb: Vec<u8> = [b"\x40\x01x\x7f\xa1\x1e".as_slice(), &[b'y'; 4000], &[0xbe; 17]].concat();
        for (block, error) in [
            (&b"\x80"[..], HpackError::Index),
            (b"\xbe", HpackError::Index),
            (b"\x7f\xff\xff\xff\xff\xff", HpackError::Number),
            (b"\xff", HpackError::Truncated),
            (b"\x40", HpackError::Truncated),
            (b"\x40\x05x", HpackError::Truncated),
            (b"\x40\x01x\x85a", HpackError::Truncated),
            (b"\x40\x01x\x81\x00", HpackError::Huffman),
            (b"\x3f\xe2\x1f", HpackError::Resize),
            (b"\x88\x20", HpackError::Resize),
            (&long, HpackError::TooLarge),
            (&bomb, HpackError::TooLarge),
        ] {
            assert_eq!(fields(&mut Decoder::default(), block), Err(error), "{:x?}", &block[..block.len().min(9)]);
        }
    }

    #[test]
    fn nothing_makes_it_panic_or_grow() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut decoder = Decoder::default();
        for _ in 0..50_000 {
            // Short strings and indices that may exist, so that most blocks get somewhere.
            let byte = |random: &mut fastrand::Rng| match random.u8(..4) {
                0 => random.u8(..),
                1 => random.choice([0x40, 0x00, 0x10, 0x20, 0x82, 0x83, 0xbe, 0xc0]).unwrap_or(0),
                _ => random.u8(..12),
            };
            let block: Vec<u8> = (0..random.usize(..60)).map(|_| byte(&mut random)).collect();
            if decoder.decode(&block, |_, _| ()).is_err() && random.bool() {
                decoder.reset();
            }
            assert!(decoder.table.bytes.len() <= 2 * TABLE);
        }
    }

    #[test]
    fn a_field_larger_than_the_table_empties_it() {
        let mut decoder = Decoder::default();
        fields(&mut decoder, b"\x40\x01x\x01y\x20\x3f\xe1\x1f").unwrap_err();
        let mut decoder = Decoder::default();
        fields(&mut decoder, b"\x40\x01x\x01y").unwrap();
        let large = [b"\x40\x01x\x7f\xe1\x1f".as_slice(), &[b'z'; 4192]].concat();
        assert_eq!(fields(&mut decoder, &large).unwrap().len(), 4195);
        assert_eq!(fields(&mut decoder, b"\xbe"), Err(HpackError::Index));
        // With no room at all, fields come and go.
        assert_eq!(fields(&mut decoder, b"\x20\x40\x01x\x01y\x88").unwrap(), "x=y\n:status=200\n");
        assert_eq!(fields(&mut decoder, b"\xbe"), Err(HpackError::Index));
    }
}
