//! The fields that end every header section: `Server` and `Date`, made once a second, in the case of a controller's response and in
//! that of a router's.

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
    /// Both fields with their names in lower case.
    lower: Vec<u8>,
}

impl CommonHeaders {
    pub fn new(server: &'static str) -> Self {
        let mut headers = Self { server, second: 0, date_at: 0, bytes: Vec::new(), lower: Vec::new() };
        headers.refresh();
        headers
    }

    /// Makes the fields anew once a second has passed.
    pub fn refresh(&mut self) {
        let now = clock::coarse_unix_seconds();
        if now != self.second || self.bytes.is_empty() {
            self.second = now;
            let date = httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(now));
            let lines = |server: &str, dated: &str| {
                let named =
                    if self.server.is_empty() { String::new() } else { format!("{server}: {}\r\n", self.server) };
                (named.len(), format!("{named}{dated}: {date}\r\n").into_bytes())
            };
            (self.date_at, self.bytes) = lines("Server", "Date");
            (_, self.lower) = lines("server", "date");
        }
    }

    /// Returns both fields, each with its line end.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the fields that a controller's response lacks.
    #[inline]
    pub fn missing(&self, has_date: bool, has_server: bool) -> &[u8] {
        self.part(&self.bytes, has_date, has_server)
    }

    /// Returns the fields that a router's response lacks.
    #[inline]
    pub fn missing_in_lower_case(&self, has_date: bool, has_server: bool) -> &[u8] {
        self.part(&self.lower, has_date, has_server)
    }

    #[inline]
    fn part<'a>(&self, bytes: &'a [u8], has_date: bool, has_server: bool) -> &'a [u8] {
        let from = if has_server { self.date_at } else { 0 };
        let to = if has_date { self.date_at } else { bytes.len() };
        &bytes[from..to]
    }
}
