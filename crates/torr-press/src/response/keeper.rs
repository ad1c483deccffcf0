//! The inspector that keeps responses for virtual users.

use super::inspect::Inspect;
use super::kept::KeptResponse;
use crate::request::outgoing::RequestInfo;
use torr_wire::Header;
use torr_wire::response::Observer;

/// Keeps each response of a connection of HTTP/1.1.
#[derive(Debug, Default)]
pub struct Keeper {
    response: KeptResponse,
}

impl Keeper {
    /// Returns the response, as far as it has arrived.
    pub(super) fn response(&mut self) -> &mut KeptResponse {
        &mut self.response
    }
}

impl Observer for Keeper {
    fn status_line(&mut self, minor: u8, reason: &str) {
        self.response.version = if minor == 0 { "1.0" } else { "1.1" };
        self.response.keep_reason(reason);
    }

    fn head(&mut self, status: u16, fields: &[Header<'_>]) {
        self.response.begin(status, fields.iter().map(|field| (field.name.as_bytes(), field.value)));
    }

    fn body(&mut self, piece: &[u8]) {
        self.response.add(piece);
    }
}

impl Inspect for Keeper {
    fn begun(&mut self, info: &RequestInfo) {
        self.response.clear();
        self.response.want(info);
    }

    fn kept(&mut self) -> Option<&mut KeptResponse> {
        Some(&mut self.response)
    }
}
