//! Request ids, which connect the logs of all servers that took part in a request.
//!
//! A fast generator makes the ids, and later ids can be computed from earlier ones: an id must never serve as a secret.

use fastrand::Rng;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use torr_wire::is_token;
use uuid::fmt::Simple;
use uuid::{Builder, Uuid};

/// The header field of ids, in requests and responses.
pub(crate) const FIELD: &str = "x-request-id";

/// The id of a request: a random UUID (RFC 9562) as 32 hexadecimal digits, or the id that a trusted proxy gave. A request has
/// one among its extensions if [`Settings::request_ids`](crate::Settings::request_ids) is set.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestId(Id);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Id {
    Made(Uuid),
    Given(Arc<str>),
}

impl RequestId {
    /// Returns a given id. `None` unless it has 1 to 128 characters of a token (RFC 9110, section 5.6.2), which are safe in
    /// a header field and in a log.
    pub fn given(text: &[u8]) -> Option<Self> {
        const LONGEST: usize = 128;
        let sound = (1..=LONGEST).contains(&text.len()) && text.iter().all(|&byte| is_token(byte));
        let text = std::str::from_utf8(text).ok().filter(|_| sound)?;
        Some(Self(Id::Given(text.into())))
    }

    /// Returns a new id, for a request without one because `request_ids` is not set.
    pub fn fresh() -> Self {
        RequestIds::new().make()
    }

    /// Appends the id to a header section or a line of the log.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Id::Given(text) => out.extend_from_slice(text.as_bytes()),
            Id::Made(uuid) => out.extend_from_slice(uuid.as_simple().encode_lower(&mut [0; Simple::LENGTH]).as_bytes()),
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Id::Given(text) => f.write_str(text),
            Id::Made(uuid) => uuid.as_simple().fmt(f),
        }
    }
}

/// The generator of ids of one worker. `Uuid::new_v4` would be a system call for each request.
#[derive(Debug)]
pub(crate) struct RequestIds {
    /// Two generators, since the state of one has only 64 bits: two of many workers, on any machines, could make the same ids.
    halves: [Rng; 2],
}

impl RequestIds {
    /// Seeds the generator from the keys of hash tables, which come from the operating system.
    pub fn new() -> Self {
        let seed = || RandomState::new().hash_one(std::process::id());
        Self { halves: [Rng::with_seed(seed()), Rng::with_seed(seed())] }
    }

    /// Returns a new id.
    pub fn make(&mut self) -> RequestId {
        let [high, low] = &mut self.halves;
        let random = u128::from(high.u64(..)) << 64 | u128::from(low.u64(..));
        RequestId(Id::Made(Builder::from_random_bytes(random.to_be_bytes()).into_uuid()))
    }

    /// Returns the id that a trusted peer gave, if that id is valid, or else a new one.
    pub fn of(&mut self, given: Option<&[u8]>, trusted: bool) -> RequestId {
        given.filter(|_| trusted).and_then(RequestId::given).unwrap_or_else(|| self.make())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn written(id: &RequestId) -> String {
        let mut out = Vec::new();
        id.write(&mut out);
        String::from_utf8(out).expect("ids are ASCII")
    }

    #[test]
    fn ids_are_32_digits_and_none_comes_twice() {
        let (mut one, mut two) = (RequestIds::new(), RequestIds::new());
        let ids: HashSet<_> = (0..1000).flat_map(|_| [one.make(), two.make()]).map(|id| id.to_string()).collect();
        assert_eq!(ids.len(), 2000);
        assert!(ids.iter().all(|id| id.len() == 32 && id.bytes().all(|byte| b"0123456789abcdef".contains(&byte))));
        assert_eq!(RequestId(Id::Made(Uuid::from_u128(0x1f))).to_string(), "0000000000000000000000000000001f");
    }

    #[test]
    fn an_id_is_taken_from_a_trusted_peer_only_and_only_if_it_is_one() {
        let mut ids = RequestIds::new();
        for good in ["a", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "~!#$%&'*+-.^_`|", &"x".repeat(128)] {
            assert_eq!(ids.of(Some(good.as_bytes()), true).to_string(), good);
            assert_ne!(ids.of(Some(good.as_bytes()), false).to_string(), good);
        }
        for bad in ["", " a", "a b", "a\"", "a\\", "a\r\nX: y", "a,b", "\u{e9}", &"x".repeat(129)] {
            let id = ids.of(Some(bad.as_bytes()), true).to_string();
            assert!(id.len() == 32 && id != bad, "{bad}");
        }
        assert_eq!(ids.of(None, true).to_string().len(), 32);
    }

    proptest! {
        #[test]
        fn an_id_is_written_as_it_is_shown(number: u128, text: Vec<u8>) {
            let id = RequestId(Id::Made(Uuid::from_u128(number)));
            prop_assert_eq!(written(&id), id.to_string());
            if let Some(id) = RequestId::given(&text) {
                prop_assert_eq!(written(&id).into_bytes(), &text[..]);
                prop_assert_eq!(id.to_string().into_bytes(), &text[..]);
                prop_assert!(text.iter().all(u8::is_ascii_graphic));
            }
        }
    }
}
