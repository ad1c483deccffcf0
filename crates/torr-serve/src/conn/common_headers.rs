//! The fields that end every header section: `Server`, `Date` and, beside HTTP/3, `Alt-Svc`, made once a second, in the case of a controller's response and in
//! that of a router's.

use std::time::{Duration, SystemTime};
use torr_net::clock;

/// The fields as bytes, which are valid for one second.
#[derive(Debug, Clone)]
pub(crate) struct CommonHeaders {
    server: &'static str,
    /// The value of `Alt-Svc` (RFC 7838); `None` without HTTP/3.
    alt_svc: Option<String>,
    /// The Unix time for which the bytes are valid, in seconds.
    second: u64,
    /// The length of `Server`.
    server_len: usize,
    /// The position at which `Date` begins.
    date_at: usize,
    bytes: Vec<u8>,
    /// The fields with their names in lower case.
    lower: Vec<u8>,
}

impl CommonHeaders {
    pub fn new(server: &'static str, alt_svc: Option<String>) -> Self {
        let mut headers =
            Self { server, alt_svc, second: 0, server_len: 0, date_at: 0, bytes: Vec::new(), lower: Vec::new() };
        headers.refresh();
        headers
    }

    /// Makes the fields anew once a second has passed.
    pub fn refresh(&mut self) {
        let now = clock::coarse_unix_seconds();
        if now != self.second || self.bytes.is_empty() {
            self.second = now;
            let date = httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(now));
            let lines = |server: &str, alt_svc: &str, dated: &str| {
                let named =
                    if self.server.is_empty() { String::new() } else { format!("{server}: {}\r\n", self.server) };
                let other = self.alt_svc.as_ref().map_or_else(String::new, |value| format!("{alt_svc}: {value}\r\n"));
                let before = named.len() + other.len();
                (named.len(), before, format!("{named}{other}{dated}: {date}\r\n").into_bytes())
            };
            (self.server_len, self.date_at, self.bytes) = lines("Server", "Alt-Svc", "Date");
            (_, _, self.lower) = lines("server", "alt-svc", "date");
        }
    }

    /// Returns all fields, each with its line end.
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
        let from = if has_server { self.server_len } else { 0 };
        let to = if has_date { self.date_at } else { bytes.len() };
        &bytes[from..to]
    }
}
