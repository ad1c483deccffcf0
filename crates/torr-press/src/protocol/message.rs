//! The fields of a header section by which a response of HTTP/2 or HTTP/3 is read (RFC 9113, section 8; RFC 9114, section 4).

use crate::response::events::is_event_stream;

/// One head, as far as it has been read.
#[derive(Debug, Default)]
pub struct Message {
    pub status: Option<u16>,
    pub length: Option<u64>,
    /// Whether the content is an event stream.
    pub is_event_stream: bool,
    /// The first defect of the header section; `None` if there is none.
    pub wrong: Option<&'static str>,
    /// A field has come that is not `:status`.
    has_fields: bool,
}

impl Message {
    /// Takes the next field.
    #[inline]
    pub fn take(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b":status" => self.take_status(value),
            [b':', ..] => self.is_wrong("unknown pseudo-header field"),
            _ => {
                self.has_fields = true;
                self.take_field(name, value);
            }
        }
    }

    fn is_wrong(&mut self, what: &'static str) {
        self.wrong.get_or_insert(what);
    }

    fn take_status(&mut self, value: &[u8]) {
        if self.status.is_some() || self.has_fields {
            self.is_wrong(":status must come first, once, and be the only pseudo-header field");
        }
        let digit = |at: usize| value.get(at).filter(|b| b.is_ascii_digit()).map(|b| u16::from(b - b'0'));
        match (digit(0), digit(1), digit(2), value.len()) {
            (Some(a @ 1..), Some(b), Some(c), 3) => self.status = Some(100 * a + 10 * b + c),
            _ => self.is_wrong("invalid :status"),
        }
    }

    #[inline]
    fn take_field(&mut self, name: &[u8], value: &[u8]) {
        // Without branches, so that several bytes are looked at at once.
        let bad_name = name.iter().fold(name.is_empty(), |bad, &b| bad | !NAME[usize::from(b)]);
        let bad_value = value.iter().fold(false, |bad, &b| bad | (b == 0) | (b == b'\r') | (b == b'\n'));
        if bad_name || bad_value {
            self.is_wrong("invalid header field");
        }
        match name {
            b"content-length" => {
                let length = decimal(value);
                if length.is_none() || self.length.is_some_and(|seen| Some(seen) != length) {
                    self.is_wrong("invalid content-length");
                }
                self.length = length;
            }
            b"content-type" => self.is_event_stream = is_event_stream(value),
            b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade" => {
                self.is_wrong("header field of a connection of HTTP/1.1");
            }
            _ => {}
        }
    }
}

/// The bytes of a field name in HTTP/2 and HTTP/3: those of a token, in lower case (RFC 9113, section 8.2.1).
static NAME: [bool; 256] = {
    let mut name = [false; 256];
    let mut at = 0;
    while at < 256 {
        let b = at as u8;
        name[at] = torr_wire::is_token(b) && !b.is_ascii_uppercase();
        at += 1;
    }
    name
};

/// `1*DIGIT` that fits 64 bits.
fn decimal(digits: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok()?;
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &[(&str, &str)]) -> Message {
        let mut message = Message::default();
        fields.iter().for_each(|(name, value)| message.take(name.as_bytes(), value.as_bytes()));
        message
    }

    #[test]
    fn what_is_wanted_of_a_head() {
        let message = read(&[(":status", "204"), ("x-y", "a b\tc"), ("content-length", "18446744073709551615")]);
        assert_eq!((message.status, message.length, message.wrong), (Some(204), Some(u64::MAX), None));
        let message = read(&[(":status", "200"), ("content-length", "5"), ("content-length", "5")]);
        assert_eq!((message.length, message.wrong), (Some(5), None));
    }

    #[test]
    fn what_is_wrong_with_a_head() {
        for fields in [
            &[(":status", "20")][..],
            &[(":status", "2000")],
            &[(":status", "099")],
            &[(":status", "2x0")],
            &[(":status", "")],
            &[(":status", "200"), (":status", "200")],
            &[("a", "b"), (":status", "200")],
            &[(":status", "200"), (":path", "/")],
            &[(":status", "200"), ("Upper", "x")],
            &[(":status", "200"), ("", "x")],
            &[(":status", "200"), ("a b", "x")],
            &[(":status", "200"), ("a:", "x")],
            &[(":status", "200"), ("a", "x\r\ny: z")],
            &[(":status", "200"), ("a", "x\0")],
            &[(":status", "200"), ("content-length", "")],
            &[(":status", "200"), ("content-length", "+1")],
            &[(":status", "200"), ("content-length", "1"), ("content-length", "2")],
            &[(":status", "200"), ("content-length", "18446744073709551616")],
            &[(":status", "200"), ("connection", "close")],
            &[(":status", "200"), ("transfer-encoding", "chunked")],
        ] {
            assert!(read(fields).wrong.is_some(), "{fields:?} was taken");
        }
    }
}
