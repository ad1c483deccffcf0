//! Requests with their heads packed: one that is always the same is packed once for all connections of a thread.

use super::hpack::{Encoder, Seeding};
use crate::request::SentContent;
use crate::request::outgoing::{RequestInfo, RequestParts};
use crate::work::source::Source;

/// The state that all connections of one thread share to compress header sections.
#[derive(Debug, Default)]
pub struct Packed {
    constant: Option<Constant>,
    /// Room for a head that is being packed.
    scratch: Vec<u8>,
}

/// The one request that there is.
#[derive(Debug)]
struct Constant {
    /// By what a head may do to the server's table.
    blocks: [Vec<u8>; 4],
    body: SentContent,
    info: RequestInfo,
}

/// The body and the properties of a request whose header section has been written.
pub(super) struct Begun {
    pub body: SentContent,
    pub info: RequestInfo,
}

impl Constant {
    fn new(parts: &RequestParts) -> Self {
        let mut encoder = Encoder::default();
        let blocks = [Seeding::Ahead, Seeding::Done, Seeding::Refused, Seeding::Without].map(|seeding| {
            let mut block = Vec::new();
            encoder.encode(&parts.head, seeding, &mut block);
            block
        });
        Self { blocks, body: parts.body.clone().unwrap_or_default(), info: parts.begun }
    }
}

impl Packed {
    /// Gives the next request's packed head to `write`.
    #[inline]
    pub(super) fn pack(
        &mut self,
        source: &mut Source<'_>,
        encoder: &mut Encoder,
        seeding: Seeding,
        write: impl FnOnce(&[u8], bool),
    ) -> Begun {
        if source.is_constant() {
            let constant = self.constant.get_or_insert_with(|| Constant::new(&source.parts()));
            write(&constant.blocks[seeding as usize], constant.body.is_empty());
            return Begun { body: constant.body.clone(), info: constant.info };
        }
        let parts = source.parts();
        self.scratch.clear();
        encoder.encode(&parts.head, seeding, &mut self.scratch);
        let body = parts.body.unwrap_or_default();
        write(&self.scratch, body.is_empty());
        Begun { body, info: parts.begun }
    }
}
