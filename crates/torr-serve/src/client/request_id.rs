//! Ids of requests, to find one again in the logs of all that took part in it.
//!
//! They are made by a fast generator and are no secrets: whoever has seen some can work out others. Nothing may be allowed to
//! somebody because he knows one.

use fastrand::Rng;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use torr_wire::is_token;

/// The field in which ids come and go.
pub(crate) const FIELD: &str = "x-request-id";

/// An id: 32 hexadecimal digits made here, or what a trusted proxy gave. Among the extensions of a request if `request_ids`
/// is set.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestId(Id);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Id {
    Made(u128),
    Given(Arc<str>),
}

impl RequestId {
    /// One that somebody else made: 1 to 128 characters of a token (RFC 9110, section 5.6.2), which do no harm in a field or a
    /// log.
    pub fn given(text: &[u8]) -> Option<Self> {
        const LONGEST: usize = 128;
        let sound = (1..=LONGEST).contains(&text.len()) && text.iter().all(|&byte| is_token(byte));
        let text = std::str::from_utf8(text).ok().filter(|_| sound)?;
        Some(Self(Id::Given(text.into())))
    }

    /// A new one, where a request has none because `request_ids` is not set.
    pub fn fresh() -> Self {
        RequestIds::new().make()
    }

    /// Appends it to a head or a line.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Id::Given(text) => out.extend_from_slice(text.as_bytes()),
            Id::Made(number) => out.extend_from_slice(&hex(*number)),
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Id::Given(text) => f.write_str(text),
            Id::Made(number) => write!(f, "{number:032x}"),
        }
    }
}

fn hex(number: u128) -> [u8; 32] {
    let digit = |at: usize| b"0123456789abcdef"[(number >> (4 * (31 - at))) as usize & 15];
    std::array::from_fn(digit)
}

/// Makes ids; each worker has its own.
#[derive(Debug)]
pub(crate) struct RequestIds {
    /// Two, since one has a state of 64 bits only: two workers, in whatever process and on whatever machine, might then come to
    /// make the same ids.
    halves: [Rng; 2],
}

impl RequestIds {
    /// Seeded by the operating system, by way of the keys that hash tables have.
    pub fn new() -> Self {
        let seed = || RandomState::new().hash_one(std::process::id());
        Self { halves: [Rng::with_seed(seed()), Rng::with_seed(seed())] }
    }

    /// A new one.
    pub fn make(&mut self) -> RequestId {
        let [high, low] = &mut self.halves;
        RequestId(Id::Made(u128::from(high.u64(..)) << 64 | u128::from(low.u64(..))))
    }

    /// The one that a peer gave, if that is trusted and it is sound; else a new one.
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
        assert_eq!(RequestId(Id::Made(0x1f)).to_string(), "0000000000000000000000000000001f");
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
            let id = RequestId(Id::Made(number));
            prop_assert_eq!(written(&id), id.to_string());
            if let Some(id) = RequestId::given(&text) {
                prop_assert_eq!(written(&id).into_bytes(), &text[..]);
                prop_assert_eq!(id.to_string().into_bytes(), &text[..]);
                prop_assert!(text.iter().all(u8::is_ascii_graphic));
            }
        }
    }
}
