//! The masker of secrets: whatever is kept or shown of a run, and may have a secret of the user in it, goes through this file.

mod spelling;

pub use spelling::unescaped;

use crate::redact::HIDDEN;
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use memchr::memmem;
use spelling::{end_of_match, without_cut_escape};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The least number of characters of base64 or hexadecimal digits that stand for a secret: fewer are found by chance.
const LEAST_ENCODED: usize = 4;

/// The least number of bytes at the end of a cut text that count as the beginning of a secret.
const LEAST_BEGINNING: usize = 4;

/// The secrets of a run, each found in every usual spelling: as it is, percent-encoded, as JSON, XML or HTML escape it, and in
/// base64 or hexadecimal digits, also in the middle of other encoded text such as `user:password`.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    values: BTreeSet<String>,
    /// What is looked for, the longest first, so that a secret that contains another is masked whole.
    patterns: Vec<Pattern>,
}

/// A text in which many possible secrets are looked for quickly, such as all records of a large file.
#[derive(Debug, Default)]
pub struct Haystack {
    /// The text without the escapes of each kind, without all of them, and as it is.
    texts: Vec<Vec<u8>>,
    /// Whether the text was cut, perhaps within a secret.
    is_cut: bool,
}

impl Haystack {
    /// Takes the beginning of a text.
    pub fn of_beginning(raw: &[u8]) -> Self {
        let mut texts = Self::new(without_cut_escape(raw).to_vec()).texts;
        // What looks like the beginning of an escape may be none.
        texts.push(raw.to_vec());
        Self { texts, is_cut: true }
    }

    /// Takes a text.
    pub fn new(raw: Vec<u8>) -> Self {
        let spaced: Vec<u8> = raw.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
        let by = |lead: &[u8]| spelling::unescaped_by(&raw, lead);
        let texts = vec![by(b"%"), spelling::unescaped_by(&spaced, b"%"), by(b"\\"), by(b"&"), unescaped(&raw)];
        Self { texts: texts.into_iter().chain([raw]).collect(), is_cut: false }
    }

    /// Returns whether a secret may stand in the text; if not, there is nothing to mask.
    pub fn may_hold(&self, secret: &[u8]) -> bool {
        let is_in = |bytes: &[u8]| {
            let begins = |text: &Vec<u8>| self.is_cut && ends_with_beginning(text, bytes);
            self.texts.iter().any(|text| memmem::find(text, bytes).is_some() || begins(text))
        };
        !secret.is_empty() && (is_in(secret) || patterns(secret).iter().skip(1).any(|pattern| is_in(&pattern.bytes)))
    }
}

/// Returns whether a text ends with the beginning of a secret.
fn ends_with_beginning(text: &[u8], secret: &[u8]) -> bool {
    let last = &text[text.len().saturating_sub(secret.len())..];
    // Beginnings that overlap, as in a secret that begins with spaces behind a space, are all tried.
    last.windows(LEAST_BEGINNING).zip(0..).any(|(_, at)| secret.starts_with(&last[at..]))
}

/// A text that stands for a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    bytes: Vec<u8>,
    /// Whether the bytes are in base64: what is encoded together with the secret is masked as well.
    is_base64: bool,
}

impl Secrets {
    /// Returns the secrets with these values. An empty value hides nothing.
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let values: BTreeSet<String> = values.into_iter().filter(|value| !value.is_empty()).collect();
        let mut patterns: Vec<Pattern> = values.iter().flat_map(|value| patterns(value.as_bytes())).collect();
        patterns.sort_by(|one, other| (other.bytes.len(), &other.bytes).cmp(&(one.bytes.len(), &one.bytes)));
        patterns.dedup();
        Self { values, patterns }
    }

    /// Returns these secrets and further ones.
    pub fn with(&self, further: impl IntoIterator<Item = String>) -> Self {
        let new: Vec<_> = further.into_iter().filter(|value| !self.values.contains(value)).collect();
        if new.is_empty() { self.clone() } else { Self::new(self.values.iter().cloned().chain(new)) }
    }

    /// Returns the values, as they were given.
    pub fn values(&self) -> impl Iterator<Item = &String> {
        self.values.iter()
    }

    /// Whether there are no secrets.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns a text with each secret in it masked.
    pub fn mask(&self, text: String) -> String {
        match self.mask_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => String::from_utf8_lossy(&masked).into_owned(),
        }
    }

    /// Returns bytes that are mostly text with each secret in them masked.
    pub fn mask_bytes<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        self.mask_all(bytes, false)
    }

    /// Returns the beginning of a text with each secret in it masked, also one that begins before the end and was cut.
    pub fn mask_beginning<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        self.mask_all(bytes, true)
    }

    fn mask_all<'b>(&self, bytes: &'b [u8], is_cut: bool) -> Cow<'b, [u8]> {
        let may_begin = self.first_bytes();
        let (mut out, mut copied, mut at) = (Vec::new(), 0, 0);
        while at < bytes.len() {
            let found = if may_begin[usize::from(bytes[at])] { self.find_at(bytes, at, is_cut) } else { None };
            let Some((start, end)) = found else {
                at += 1;
                continue;
            };
            let start = start.max(copied);
            out.extend_from_slice(&bytes[copied..start]);
            // Two secrets that touch each other are two.
            out.extend_from_slice(HIDDEN.as_bytes());
            (copied, at) = (end, end);
        }
        if copied == 0 {
            return Cow::Borrowed(bytes);
        }
        out.extend_from_slice(&bytes[copied..]);
        Cow::Owned(out)
    }

    /// Returns the range of the longest secret that begins at a position.
    fn find_at(&self, bytes: &[u8], at: usize, is_cut: bool) -> Option<(usize, usize)> {
        self.patterns.iter().find_map(|pattern| {
            let end = end_of_match(bytes, at, &pattern.bytes, is_cut)?;
            if !pattern.is_base64 {
                return Some((at, end));
            }
            let is_encoded = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
            let before = bytes[..at].iter().rev().take_while(|byte| is_encoded(byte)).count();
            let mut rest = &bytes[end..];
            loop {
                rest = match rest {
                    [b'%', b'2', b'B' | b'b' | b'F' | b'f', rest @ ..] | [b'%', b'3', b'D' | b'd', rest @ ..] => rest,
                    [b'\\', b'/', rest @ ..] | [b'=', rest @ ..] => rest,
                    [byte, rest @ ..] if is_encoded(byte) => rest,
                    _ => return Some((at - before, bytes.len() - rest.len())),
                };
            }
        })
    }

    /// Returns for each byte whether a secret may begin with it, in some spelling.
    fn first_bytes(&self) -> [bool; 256] {
        let mut first = [false; 256];
        for pattern in &self.patterns {
            first[usize::from(pattern.bytes[0])] = true;
            first[usize::from(pattern.bytes[0].to_ascii_uppercase())] = true;
            if pattern.bytes[0] == b' ' {
                first[usize::from(b'+')] = true;
            }
        }
        if !self.patterns.is_empty() {
            b"%\\&".iter().for_each(|byte| first[usize::from(*byte)] = true);
        }
        first
    }
}

/// Returns what stands for a secret.
fn patterns(secret: &[u8]) -> Vec<Pattern> {
    let mut patterns = vec![Pattern { bytes: secret.to_vec(), is_base64: false }];
    let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    for digits in [hex.to_ascii_uppercase(), hex] {
        if digits.len() >= 2 * LEAST_ENCODED {
            patterns.push(Pattern { bytes: digits.into_bytes(), is_base64: false });
        }
    }
    // Three bytes are four characters, so that a secret has three forms by its position in what is encoded. The characters
    // at the edges depend on what stands beside the secret.
    for (before, undetermined) in [(0, 0), (1, 2), (2, 3)] {
        let together = [&b"   "[..before], secret].concat();
        let determined = together.len() * 8 / 6;
        for encoded in [BASE64_STANDARD.encode(&together), BASE64_URL_SAFE.encode(&together)] {
            let middle = encoded.as_bytes().get(undetermined..determined).unwrap_or_default();
            let pattern = Pattern { bytes: middle.to_vec(), is_base64: true };
            if middle.len() >= LEAST_ENCODED && !patterns.contains(&pattern) {
                patterns.push(pattern);
            }
        }
    }
    patterns
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn secrets(values: &[&str]) -> Secrets {
        Secrets::new(values.iter().map(|value| (*value).to_owned()))
    }

    #[test]
    fn secrets_are_masked_wherever_they_stand() {
        let some = secrets(&["key", "", "key-long"]);
        assert_eq!(some.mask("a key, a key-long, keykey".to_owned()), "a ***, a ***, ******");
        assert_eq!(some.mask_bytes(b"x-api: key\xff").as_ref(), b"x-api: ***\xff");
        assert_eq!(some.mask_bytes(b"\xff").as_ref(), b"\xff");
        assert_eq!(Secrets::default().mask("%41\\u0041&amp;".to_owned()), "%41\\u0041&amp;");
    }

    #[test]
    fn a_cut_secret_is_found_behind_what_looks_like_its_beginning() {
        assert!(Haystack::of_beginning(b"x     //%").may_hold(b"    //% "));
        assert!(!Haystack::of_beginning(b"x   //%").may_hold(b"    //% "));
    }

    #[test]
    fn what_was_encoded_with_a_secret_is_masked_whole() {
        let some = secrets(&["k&9\"z+"]);
        for user in ["", "m", "mi", "mia", "user"] {
            for after in ["", "1", "22"] {
                let encoded = BASE64_STANDARD.encode(format!("{user}:k&9\"z+{after}"));
                assert_eq!(some.mask(format!("Basic {encoded}, x")), "Basic ***, x", "{user} {after}");
            }
        }
    }

    /// Returns the spellings of a text.
    fn spellings(text: &str) -> Vec<String> {
        let bytes = |spell: fn(u8) -> String| text.bytes().map(spell).collect::<String>();
        let chars = |spell: &dyn Fn(char) -> String| text.chars().map(spell).collect::<String>();
        let is_plain = |c: char| c.is_ascii_alphanumeric();
        let json = serde_json::to_string(text).expect("text is JSON");
        let unit =
            |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04X}")).collect::<String>();
        vec![
            text.to_owned(),
            bytes(|byte| format!("%{byte:02X}")),
            bytes(|byte| format!("%{byte:02x}")),
            bytes(|byte| if byte.is_ascii_alphanumeric() { (byte as char).into() } else { format!("%{byte:02X}") }),
            chars(&|c| {
                if c == ' ' { "+".into() } else { c.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect() }
            }),
            json[1..json.len() - 1].to_owned(),
            json[1..json.len() - 1].replace('/', "\\/"),
            chars(&|c| if is_plain(c) { c.into() } else { unit(c) }),
            chars(&|c| if is_plain(c) { c.into() } else { format!("&#{};", c as u32) }),
            chars(&|c| if is_plain(c) { c.into() } else { format!("&#x{:X};", c as u32) }),
            text.replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;")
                .replace('"', "&quot;")
                .replace('\'', "&apos;"),
            bytes(|byte| format!("{byte:02x}")),
            bytes(|byte| format!("{byte:02X}")),
            BASE64_STANDARD.encode(text),
            BASE64_URL_SAFE.encode(text),
            BASE64_STANDARD.encode(format!("user:{text}")),
            BASE64_STANDARD.encode(format!("mia:{text}\n")),
            BASE64_STANDARD.encode(text).replace('+', "%2B").replace('/', "%2F").replace('=', "%3D"),
            BASE64_STANDARD.encode(text).replace('/', "\\/"),
            text.escape_debug().to_string(),
        ]
    }

    proptest! {
        #[test]
        fn every_spelling_of_a_secret_is_masked(
            secret in "[a-zA-Z0-9 /\\\\\"'&<>+=%:;?#é😀\t]{6,20}",
            before in "[ ,:({\\[]{0,3}",
            after in "[ ,:)}\\]]{0,3}",
        ) {
            let some = Secrets::new([secret.clone()]);
            for spelled in spellings(&secret) {
                let masked = some.mask(format!("{before}{spelled}{after}"));
                prop_assert!(masked.contains("***"), "{spelled}: {masked}");
                prop_assert!(Haystack::new(spelled.clone().into_bytes()).may_hold(secret.as_bytes()), "{spelled}");
                let left = masked.replace("***", "");
                prop_assert!(left.len() <= before.len() + after.len() + 4, "{spelled}: {masked}");
                prop_assert_eq!(some.mask(masked.clone()), masked);
            }
        }

        #[test]
        fn a_secret_that_is_cut_is_masked(secret in "[a-z /\\\\\"'&<>+=%é]{8,30}", cut in any::<prop::sample::Index>()) {
            let some = Secrets::new([secret.clone()]);
            for spelled in spellings(&secret) {
                let text = format!("before: {spelled}").into_bytes();
                let cut = 8 + cut.index(spelled.len());
                let masked = some.mask_beginning(&text[..cut]).into_owned();
                let shown = String::from_utf8_lossy(&masked).replace("***", "");
                let left = shown.len().saturating_sub("before: ".len());
                // The name before in base64; a first escape that is cut; the beginning of an escaped `=` behind base64.
                let has_name = ["dXNlcj", "bWlhO"].iter().any(|name| spelled.starts_with(name));
                let most = if has_name { 7 } else if spelled.starts_with(['%', '\\', '&']) { 5 } else { 2 };
                prop_assert!(left <= most, "{:?} of {spelled}", String::from_utf8_lossy(&masked));
            }
            let text = &secret.as_bytes()[..secret.len() - 1];
            prop_assert!(Haystack::of_beginning(&[b"x ", text].concat()).may_hold(secret.as_bytes()));
        }

        #[test]
        fn text_without_a_secret_stays(text in "[a-j%&;#+\\\\]{0,60}") {
            prop_assert_eq!(secrets(&["zzzz-secret"]).mask(text.clone()), text);
        }
    }
}
