//! The fields that end every head: `Server` and `Date`, made once a second.

use std::time::{Duration, SystemTime};
use torr_net::clock;

/// Ready bytes, good for one second.
#[derive(Debug, Clone)]
pub(crate) struct Stamp {
    server: &'static str,
    second: u64,
    /// Where the date begins.
    date_at: usize,
    bytes: Vec<u8>,
}

impl Stamp {
    pub fn new(server: &'static str) -> Self {
        let mut stamp = Self { server, second: 0, date_at: 0, bytes: Vec::new() };
        stamp.refresh();
        stamp
    }

    /// Brings the date up to now.
    pub fn refresh(&mut self) {
        let now = clock::coarse_unix_seconds();
        if now != self.second || self.bytes.is_empty() {
            self.second = now;
            let date = httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(now));
            self.bytes = format!("Server: {}\r\n", self.server).into_bytes();
            self.date_at = self.bytes.len();
            self.bytes.extend_from_slice(format!("Date: {date}\r\n").as_bytes());
        }
    }

    /// Both fields, each with its line end.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Those fields that an answer does not have already.
    #[inline]
    pub fn missing(&self, dated: bool, named: bool) -> &[u8] {
        let from = if named { self.date_at } else { 0 };
        let to = if dated { self.date_at } else { self.bytes.len() };
        &self.bytes[from..to]
    }
}
