//! The fields that end every header section: `Server` and `Date`, made once a second.

use std::time::{Duration, SystemTime};
use torr_net::clock;

/// The fields as bytes, which are valid for one second.
#[derive(Debug, Clone)]
pub(crate) struct CommonHeaders {
    server: &'static str,
    /// The Unix time for which the bytes are valid, in seconds.
    second: u64,
    /// The position at which `Date` begins.
    date_at: usize,
    bytes: Vec<u8>,
}

impl CommonHeaders {
    pub fn new(server: &'static str) -> Self {
        let mut headers = Self { server, second: 0, date_at: 0, bytes: Vec::new() };
        headers.refresh();
        headers
    }

    /// Makes the fields anew once a second has passed.
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

    /// Returns both fields, each with its line end.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the fields that a response lacks.
    #[inline]
    pub fn missing(&self, has_date: bool, has_server: bool) -> &[u8] {
        let from = if has_server { self.date_at } else { 0 };
        let to = if has_date { self.date_at } else { self.bytes.len() };
        &self.bytes[from..to]
    }
}
