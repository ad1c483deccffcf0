//! One failed response as a sample of a service's failures, without secrets and truncated to a bounded size.

use crate::bounds::{Bounded, LONGEST_S, OutOfBounds, cut, no_longer, within};
use crate::redact::{self, HIDDEN};
use crate::secrets::Secrets;
use serde::{Deserialize, Serialize};

/// The limit of field lines.
const MAX_FIELDS: usize = 12;
/// The limit of a field's value, a name or the status line in bytes.
const MAX_VALUE: usize = 200;
/// The limit of the content in bytes.
const MAX_CONTENT: usize = 1024;
/// The bytes that one byte of a text may have become where it was no UTF-8.
const MAX_TRAVELLED: usize = 3;
/// The field that is omitted: its value may be a session's secret, and does not concern the failure.
const SECRET: &str = "set-cookie";

/// The first response of a run with a status of 400 or more. Its texts are the server's and may hold control characters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailedResponse {
    /// The time of the last byte in seconds since the measurement began.
    pub at_s: f64,
    /// The status code.
    pub status: u16,
    /// The status line, such as `HTTP/1.1 503 Service Unavailable`; HTTP/2 has no reason phrase.
    pub status_line: String,
    /// The first field lines, without `Set-Cookie`.
    pub fields: Vec<Field>,
    /// The beginning of the content, decompressed.
    pub content: String,
    /// Whether `content` is all of the content.
    pub complete: bool,
}

/// One field line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The name as sent.
    pub name: String,
    /// The value.
    pub value: String,
}

impl FailedResponse {
    /// Copies the parts of a response up to their limits, without `secrets`: a server may send back what it was sent. `complete`
    /// tells whether `content` is all of the content.
    pub fn new<'f>(
        status: u16,
        status_line: &str,
        fields: impl Iterator<Item = (&'f str, &'f [u8])>,
        content: &[u8],
        complete: bool,
        secrets: &Secrets,
    ) -> Self {
        // A secret that the limit cuts would not be found.
        let cut = |masked: &[u8], most: usize| String::from_utf8_lossy(&masked[..masked.len().min(most)]).into_owned();
        let text = |bytes: &[u8], most: usize| cut(&secrets.mask_bytes(bytes), most);
        let masked = if complete { secrets.mask_bytes(content) } else { secrets.mask_beginning(content) };
        let value = |name: &str, value: &[u8]| match redact::is_secret_field(name) {
            true => HIDDEN.to_owned(),
            false => text(redact::urls(&String::from_utf8_lossy(value)).as_bytes(), MAX_VALUE),
        };
        let fields = fields.filter(|(name, _)| !name.eq_ignore_ascii_case(SECRET)).take(MAX_FIELDS);
        Self {
            at_s: 0.0,
            status,
            status_line: text(status_line.as_bytes(), MAX_VALUE),
            fields: fields
                .map(|(name, bytes)| Field { name: text(name.as_bytes(), MAX_VALUE), value: value(name, bytes) })
                .collect(),
            content: cut(&masked, MAX_CONTENT),
            complete: complete && content.len() <= MAX_CONTENT,
        }
    }
}

impl Bounded for FailedResponse {
    /// Texts stay as the server sent them, up to their limits: what prints them escapes them.
    fn bound(&mut self, _: u64) -> Result<(), OutOfBounds> {
        let Self { at_s, status, status_line, fields, content, complete: _ } = self;
        within("at_s", *at_s, 0.0..=LONGEST_S as f64)?;
        within("status", *status, 0..=999)?;
        no_longer("fields", fields.len(), MAX_FIELDS)?;
        let values = fields.iter_mut().flat_map(|Field { name, value }| [name, value]);
        values.chain([status_line]).for_each(|text| cut(text, MAX_TRAVELLED * MAX_VALUE));
        cut(content, MAX_TRAVELLED * MAX_CONTENT);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_kept() {
        let secrets = Secrets::new(["hunter2".to_owned()]);
        let fields = [
            ("X-Echo-Authorization", &b"Bearer other"[..]),
            ("Location", b"http://u:p@h/?token=a&t=hunter2"),
            ("X-hunter2", b"%68unter2"),
            ("Link", b"<http://h/?page=2>, <http://h/?token=a>"),
        ];
        let content = [&vec![b'x'; MAX_CONTENT - 3][..], b"hunter2"].concat();
        let kept = FailedResponse::new(401, "HTTP/1.1 401 hunter2", fields.into_iter(), &content, true, &secrets);
        let fields: Vec<_> = kept.fields.iter().map(|field| (field.name.as_str(), field.value.as_str())).collect();
        let masked = [
            ("X-Echo-Authorization", "***"),
            ("Location", "http://***@h/?token=***&t=***"),
            ("X-***", "***"),
            ("Link", "<http://h/?page=2>, <http://h/?token=***"),
        ];
        assert_eq!((kept.status_line.as_str(), &fields[..]), ("HTTP/1.1 401 ***", &masked[..]));
        assert!(kept.content.ends_with("xx***"), "a secret at the limit: {}", kept.content);
    }

    #[test]
    fn what_is_kept_is_bounded_and_has_no_cookies() {
        let long = vec![b'v'; 100_000];
        let fields = std::iter::once(("SET-Cookie", &b"session=secret"[..]))
            .chain(std::iter::repeat_n(("X-Long", &long[..]), 1000));
        let kept = FailedResponse::new(500, &"r".repeat(10_000), fields, &long, true, &Secrets::default());
        assert_eq!((kept.fields.len(), kept.complete), (MAX_FIELDS, false));
        let json = serde_json::to_string(&kept).unwrap();
        assert!(json.len() < 5000 && !json.contains("secret"), "{} bytes", json.len());
        let small =
            FailedResponse::new(404, "HTTP/2 404", std::iter::empty(), "né".as_bytes(), true, &Secrets::default());
        assert_eq!((small.content.as_str(), small.complete), ("né", true));
    }
}
