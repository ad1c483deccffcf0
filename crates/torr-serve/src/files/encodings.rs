//! The codings that a client accepts, and the best form of a resource for it (RFC 9110, section 12.5.3).

use super::form::{Coding, Form};
use crate::message::request::Request;

/// The weights that a client gives to codings, in thousandths; `None` for what it does not name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Accepted {
    br: Option<u16>,
    zstd: Option<u16>,
    gzip: Option<u16>,
    identity: Option<u16>,
    others: Option<u16>,
}

impl Accepted {
    /// Reads the fields of a request.
    pub fn by(request: &Request<'_>) -> Self {
        let fields = request.headers().filter(|(name, _)| name.eq_ignore_ascii_case("accept-encoding"));
        let mut accepted = Self::default();
        fields.for_each(|(_, value)| accepted.read(value));
        accepted
    }

    fn read(&mut self, value: &[u8]) {
        for item in value.split(|byte| *byte == b',') {
            let mut parts = item.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
            let name = parts.next().unwrap_or_default();
            let weight = parts.find_map(|part| part.strip_prefix(b"q=").or_else(|| part.strip_prefix(b"Q=")));
            let weight = weight.map_or(1000, thousandths);
            let of = |known: &[u8]| name.eq_ignore_ascii_case(known);
            let place = match () {
                () if of(b"br") => &mut self.br,
                () if of(b"zstd") => &mut self.zstd,
                () if of(b"gzip") || of(b"x-gzip") => &mut self.gzip,
                () if of(b"identity") => &mut self.identity,
                () if of(b"*") => &mut self.others,
                () => continue,
            };
            *place = Some(weight);
        }
    }

    fn weight(&self, coding: Option<Coding>) -> u16 {
        let named = match coding {
            // Without a word about it, it is accepted, and anything else is better.
            None => return self.identity.or(self.others.filter(|weight| *weight == 0)).unwrap_or(1),
            Some(Coding::Brotli) => self.br,
            Some(Coding::Zstandard) => self.zstd,
            Some(Coding::Gzip) => self.gzip,
        };
        named.or(self.others).unwrap_or(0)
    }

    /// Returns the form with the highest weight, the first of several: the plain one, of which there always is one, if the client accepts
    /// none.
    pub fn best<'f>(&self, forms: &'f [Form]) -> &'f Form {
        let plain = &forms[0];
        let coded = forms[1..].iter().rev().max_by_key(|form| self.weight(form.coding));
        let weight = |form: &&Form| self.weight(form.coding);
        coded.filter(|coded| weight(coded) > 0 && weight(coded) >= weight(&plain)).unwrap_or(plain)
    }
}

/// Reads a weight such as `0.8`. What is none counts as 0, so that nothing is sent that may not be understood.
fn thousandths(text: &[u8]) -> u16 {
    let weight = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f32>().ok());
    weight.filter(|weight| (0.0..=1.0).contains(weight)).map_or(0, |weight| (weight * 1000.0).round() as u16)
}

#[cfg(test)]
mod tests {
    use super::{Accepted, Coding};

    /// The coding that is chosen where all are there.
    fn chosen(value: &str) -> Option<Coding> {
        let mut accepted = Accepted::default();
        accepted.read(value.as_bytes());
        let forms = [None, Some(Coding::Brotli), Some(Coding::Zstandard), Some(Coding::Gzip)];
        let forms = forms.map(super::super::form::tests::of_coding);
        accepted.best(&forms).coding
    }

    #[test]
    fn the_coding_of_the_highest_weight_is_sent() {
        let cases = [
            ("gzip, deflate, br, zstd", Some(Coding::Brotli)),
            ("gzip, zstd", Some(Coding::Zstandard)),
            ("br;q=0.5, gzip;q=0.8", Some(Coding::Gzip)),
            ("X-GZIP", Some(Coding::Gzip)),
            ("*", Some(Coding::Brotli)),
            ("*;q=0.5, br;q=0", Some(Coding::Zstandard)),
            ("", None),
            ("deflate", None),
            ("br;q=0", None),
            ("br;q=2, gzip;q=x", None),
            ("identity, gzip;q=0.5", None),
            ("identity;q=0.5, gzip", Some(Coding::Gzip)),
            ("identity;q=0", None),
        ];
        for (value, expected) in cases {
            assert_eq!(chosen(value), expected, "{value}");
        }
    }
}
