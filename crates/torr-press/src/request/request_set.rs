//! The data that the cursors of all threads read.

use super::choice::Choice;
use super::column::Column;
use super::draw::Order;
use super::entry::Entry;
use super::numbers::Numbers;
use super::signer::Signing;

/// The requests of a run, and the numbers that its threads share.
#[derive(Debug)]
pub(super) struct RequestSet {
    /// The request of each URL, at least one.
    pub entries: Vec<Entry>,
    /// The choice between several entries.
    pub choice: Option<Choice>,
    /// What is added to each request when it is written.
    pub signing: Option<Signing>,
    /// Whether all requests have the same bytes but for their signatures and tokens.
    pub is_same: bool,
    /// The bytes in HTTP/1.1 of the only request, where there is one without placeholders and with no large content.
    pub constant: Option<Vec<u8>>,
    /// Whether the headers ask the server to close the connection after each response.
    pub asks_to_close: bool,
    /// The largest size of a request, in bytes.
    pub largest: usize,
    pub columns: Vec<Column>,
    /// The values of the environment in the requests, which are secrets.
    pub environment: Vec<String>,
    pub records: usize,
    pub record_order: Order,
    pub seed: u64,
    pub numbers: Numbers,
    pub record_numbers: Numbers,
    pub turns: Numbers,
}

impl RequestSet {
    /// Whether all requests have the same bytes.
    pub fn is_constant(&self) -> bool {
        self.is_same && self.signing.is_none()
    }
}
