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

impl Observer for Keeper {
    fn version(&mut self, minor: u8) {
        self.response.version = if minor == 0 { "1.0" } else { "1.1" };
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
        self.response.keep = info.keep;
    }

    fn kept(&mut self) -> Option<&mut KeptResponse> {
        Some(&mut self.response)
    }
}
