//! Digest access authentication (RFC 7616): a server's challenge, and what a client sends with each request then.
//!
//! The password is not sent, only a hash of it with the server's nonce, the method and the target. A client therefore needs a
//! challenge first: the response 401 to a request without credentials.

mod challenge;
mod credentials;

pub use credentials::Credentials;

use bytes::Bytes;
use challenge::{Challenge, Hashed};

/// The times that one request is sent again because its nonce is not valid any more.
const MOST_STALE: u8 = 2;

/// A client's state with one server: its latest challenge, and how many requests have used the nonce.
#[derive(Debug, Clone)]
pub struct Client {
    credentials: Credentials,
    challenge: Option<Challenge>,
    /// Whether requests go without content until there is a challenge.
    withholds: bool,
    /// A value of the client's own, which goes into each hash with the challenge's nonce.
    client_nonce: String,
    count: u32,
    /// Whether the latest request had credentials.
    is_authorized: bool,
    /// How many challenges in a row the latest request has met.
    challenged: u8,
}

impl Client {
    /// Returns a client that has no challenge yet.
    pub fn new(credentials: Credentials) -> Self {
        Self {
            credentials,
            challenge: None,
            withholds: true,
            client_nonce: String::new(),
            count: 0,
            is_authorized: false,
            challenged: 0,
        }
    }

    /// Returns the client's credentials.
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Whether a request goes without its content, which the server would read for nothing: a challenge is awaited.
    pub fn withholds_content(&self) -> bool {
        self.challenge.is_none() && self.withholds
    }

    /// Returns the value of `Authorization` for a request; `None` without a challenge. The content is needed for some challenges
    /// only.
    pub fn authorization(&mut self, method: &str, target: &str, content: &dyn Fn() -> Bytes) -> Option<String> {
        self.is_authorized = self.challenge.is_some();
        let challenge = self.challenge.as_ref()?;
        self.count = self.count.checked_add(1).unwrap_or(1);
        Some(challenge.response(&self.credentials, &self.client_nonce, self.count, &Hashed { method, target, content }))
    }

    /// Takes the status of a response and the values of its `WWW-Authenticate`. Returns whether the same request is to be sent
    /// again: with credentials for the new challenge, or with the content that was withheld (`withheld`) from a server that does not
    /// challenge. Credentials that the server refuses are not sent twice.
    pub fn sees<'v>(&mut self, status: u16, withheld: bool, challenges: impl Iterator<Item = &'v [u8]>) -> bool {
        if withheld && status < 300 {
            self.withholds = false;
            return true;
        }
        let is_first = !std::mem::replace(&mut self.is_authorized, false);
        let found = if status == 401 { Challenge::first_of(challenges) } else { None };
        let Some(found) = found.filter(|found| (is_first || found.is_stale) && self.challenged <= MOST_STALE) else {
            self.challenged = 0;
            return false;
        };
        self.challenged += 1;
        self.client_nonce = format!("{:032x}", fastrand::u128(..));
        (self.challenge, self.count) = (Some(found), 0);
        true
    }

    /// Forgets what the latest request has met: it failed without a response.
    pub fn forgets_request(&mut self) {
        (self.is_authorized, self.challenged) = (false, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHALLENGE: &[u8] = b"Digest realm=\"r\", nonce=\"n1\", qop=\"auth\"";
    const STALE: &[u8] = b"Digest realm=\"r\", nonce=\"n2\", qop=\"auth\", stale=TRUE";

    fn client() -> Client {
        Client::new(Credentials::read("ann:s3:cret").expect("it has a colon"))
    }

    #[test]
    fn a_nonce_is_counted_and_a_stale_one_replaced() {
        let mut client = client();
        assert_eq!(client.authorization("GET", "/", &Bytes::new), None);
        assert!(client.sees(401, false, [CHALLENGE].into_iter()));
        let first = client.authorization("GET", "/", &Bytes::new).expect("it is challenged");
        assert!(first.contains("nonce=\"n1\"") && first.contains("nc=00000001"), "{first}");
        assert!(!client.sees(200, false, [].into_iter()));
        assert!(client.authorization("GET", "/", &Bytes::new).expect("it is challenged").contains("nc=00000002"));
        assert!(client.sees(401, false, [STALE].into_iter()));
        let next = client.authorization("GET", "/", &Bytes::new).expect("it is challenged");
        assert!(next.contains("nonce=\"n2\"") && next.contains("nc=00000001"), "{next}");
        assert!(!format!("{client:?}").contains("s3:cret"));
    }

    #[test]
    fn a_server_that_does_not_challenge_gets_the_content_and_from_then_on_at_once() {
        let mut client = client();
        assert_eq!(client.authorization("POST", "/", &Bytes::new), None);
        assert!(client.withholds_content() && !client.sees(404, true, [].into_iter()));
        assert!(client.sees(204, true, [].into_iter()) && !client.withholds_content());
        assert!(!client.sees(204, false, [].into_iter()));
        assert!(client.sees(401, false, [CHALLENGE].into_iter()));
    }

    #[test]
    fn refused_credentials_are_not_sent_again() {
        let mut client = client();
        client.authorization("GET", "/", &Bytes::new);
        assert!(client.sees(401, false, [CHALLENGE].into_iter()));
        client.authorization("GET", "/", &Bytes::new);
        assert!(!client.sees(401, false, [CHALLENGE].into_iter()));
        // The next request tries them once more: the response may be about its target.
        client.authorization("GET", "/", &Bytes::new);
        assert!(!client.sees(401, false, [CHALLENGE].into_iter()));
    }

    #[test]
    fn a_server_that_calls_each_nonce_stale_is_left_after_some() {
        let mut client = client();
        let again = std::iter::from_fn(|| {
            client.authorization("GET", "/", &Bytes::new);
            Some(client.sees(401, false, [STALE].into_iter()))
        });
        assert_eq!(again.take(10).take_while(|again| *again).count(), 1 + usize::from(MOST_STALE));
    }

    #[test]
    fn responses_without_a_challenge_of_this_kind_are_left_as_they_are() {
        for (status, value) in [(200, CHALLENGE), (403, CHALLENGE), (401, b"Basic realm=\"r\""), (401, b"")] {
            let mut client = client();
            client.authorization("GET", "/", &Bytes::new);
            assert!(!client.sees(status, false, [value].into_iter()), "{status}");
            assert!(client.withholds_content());
        }
    }
}
