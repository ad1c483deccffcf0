//! Packs heads.

use super::statics::STATICS;
use super::{OVERHEAD, TABLE};
use http::{HeaderName, Request};
use torr_wire::packed::{write_number, write_string};

/// One connection's packing, as browsers do it: a connection's first head gives indices to the fields that are likely to
/// come again, all but `:path` and `content-length`; later ones refer to them, and give no more, so that what has an
/// index keeps it.
#[derive(Debug, Default)]
pub struct Encoder {
    /// The oldest first.
    table: Vec<Field>,
    size: usize,
    seeding: Seeding,
}

/// Name and value.
type Field = (Box<[u8]>, Box<[u8]>);

/// The use of the server's dynamic table by the header sections of a connection.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Seeding {
    /// The dynamic table is empty, and the next header section fills it.
    #[default]
    Ahead,
    /// The dynamic table has been filled.
    Done,
    /// The server allows a table smaller than the default size, and the update to size 0 is still to be sent.
    Refused,
    /// The dynamic table is not used.
    Without,
}

impl Seeding {
    /// Returns the use of the dynamic table after another header section.
    pub fn next(self) -> Self {
        match self {
            Self::Ahead | Self::Done => Self::Done,
            Self::Refused | Self::Without => Self::Without,
        }
    }

    /// The server says how large its table may be.
    pub fn limit(&mut self, most: u32) {
        if (most as usize) < TABLE && *self != Self::Without {
            *self = Self::Refused;
        }
    }
}

impl Encoder {
    /// Appends a head. Fields that HTTP/2 does not have are left out.
    pub fn encode(&mut self, head: &Request<()>, seeding: Seeding, out: &mut Vec<u8>) {
        match seeding {
            Seeding::Ahead => self.clear(),
            Seeding::Done => {}
            Seeding::Refused => {
                self.clear();
                write_number(out, 5, 0x20, 0);
            }
            Seeding::Without => self.clear(),
        }
        self.seeding = seeding;
        let uri = head.uri();
        self.field(b":method", head.method().as_str().as_bytes(), out);
        self.field(b":scheme", uri.scheme_str().unwrap_or("http").as_bytes(), out);
        if let Some(authority) = uri.authority() {
            self.field(b":authority", authority.as_str().as_bytes(), out);
        }
        self.field(b":path", uri.path_and_query().map_or("/", |path| path.as_str()).as_bytes(), out);
        for (name, value) in head.headers() {
            if belongs(name, value.as_bytes()) {
                self.field(name.as_str().as_bytes(), value.as_bytes(), out);
            }
        }
    }

    fn clear(&mut self) {
        self.table.clear();
        self.size = 0;
    }

    fn field(&mut self, name: &[u8], value: &[u8], out: &mut Vec<u8>) {
        let statics = || STATICS.iter().enumerate().map(|(at, (n, v))| (at + 1, n.as_bytes(), v.as_bytes()));
        if let Some((index, ..)) = statics().find(|&(_, n, v)| n == name && v == value) {
            return write_number(out, 7, 0x80, index);
        }
        if let Some(back) = self.table.iter().rev().position(|(n, v)| **n == *name && **v == *value) {
            return write_number(out, 7, 0x80, STATICS.len() + 1 + back);
        }
        let name_index = statics().find(|&(_, n, _)| n == name).map_or(0, |(index, ..)| index);
        let size = name.len() + value.len() + OVERHEAD;
        let varies = [&b":path"[..], b"content-length"].contains(&name);
        if self.seeding == Seeding::Ahead && !varies && self.size + size <= TABLE {
            write_number(out, 6, 0x40, name_index);
            self.table.push((name.into(), value.into()));
            self.size += size;
        } else {
            write_number(out, 4, 0, name_index);
        }
        if name_index == 0 {
            write_string(name, 7, 0, out);
        }
        write_string(value, 7, 0, out);
    }
}

/// Whether a field is about more than one connection of HTTP/1.1 (RFC 9113, section 8.2.2).
fn belongs(name: &HeaderName, value: &[u8]) -> bool {
    match name.as_str() {
        "connection" | "host" | "keep-alive" | "proxy-connection" | "transfer-encoding" | "upgrade" => false,
        "te" => value.eq_ignore_ascii_case(b"trailers"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Decoder;
    use super::*;

    fn head(path: &str) -> Request<()> {
        let long = "v".repeat(5000);
        Request::get(format!("https://example.com{path}"))
            .header("User-Agent", "torr")
            .header("Accept", "*/*")
            .header("X-Long", long)
            .header("X-Mine", "1")
            .header("Content-Length", "12")
            .header("Connection", "close")
            .header("Host", "other")
            .header("TE", "gzip")
            .body(())
            .unwrap()
    }

    #[test]
    fn what_is_packed_can_be_unpacked() {
        let (mut encoder, mut decoder, mut seeding) = (Encoder::default(), Decoder::default(), Seeding::Ahead);
        let mut sizes = Vec::new();
        for n in 0..6 {
            let path = format!("/{n}");
            if n == 3 {
                seeding.limit(4095);
            }
            let mut block = Vec::new();
            encoder.encode(&head(&path), seeding, &mut block);
            seeding = seeding.next();
            let mut fields = Vec::new();
            decoder
                .decode(&block, |name, value| {
                    let value = if value.len() > 100 { "long".into() } else { String::from_utf8_lossy(value) };
                    fields.push(format!("{}={value}", String::from_utf8_lossy(name)));
                })
                .unwrap();
            assert_eq!(
                fields.join(" "),
                format!(
                    ":method=GET :scheme=https :authority=example.com :path={path} user-agent=torr accept=*/* \
                     x-long=long x-mine=1 content-length=12"
                )
            );
            sizes.push(block.len() - 5000);
        }
        assert!(sizes[1] < 35 && sizes[1] == sizes[2], "{sizes:?}");
        assert!(sizes[3] == sizes[4] + 1 && sizes[4] == sizes[5] && sizes[4] > sizes[1], "{sizes:?}");
    }
}
