//! Identifiers of connections that name the worker which has the connection, so that a datagram that meets another worker can be
//! passed on (RFC 9000, section 5.1).

use quinn_proto::{ConnectionId, ConnectionIdGenerator, InvalidCid, RandomConnectionIdGenerator};
use std::time::Duration;

/// The length of an identifier in bytes: the worker's number, concealed by the two bytes behind it, and random bytes. A number in
/// the clear would let an observer join connections.
const LENGTH: usize = 12;
/// The position of the length of the destination's identifier in a long header, and that of its type.
const LENGTH_AT: usize = 5;
const LONG: u8 = 0x80;
const TYPE: u8 = 0x30;
const HANDSHAKE: u8 = 0x20;

/// Makes the identifiers of one worker's connections.
pub(super) struct WorkerIds {
    pub worker: u16,
}

impl ConnectionIdGenerator for WorkerIds {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut random = RandomConnectionIdGenerator::new(LENGTH).generate_cid().to_vec();
        let [a, b] = self.worker.to_be_bytes();
        (random[0], random[1]) = (random[2] ^ a, random[3] ^ b);
        ConnectionId::new(&random)
    }

    fn validate(&self, cid: &ConnectionId) -> Result<(), InvalidCid> {
        if named(cid) == Some(self.worker) { Ok(()) } else { Err(InvalidCid) }
    }

    fn cid_len(&self) -> usize {
        LENGTH
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

fn named(id: &[u8]) -> Option<u16> {
    match id {
        [a, b, c, d, ..] if id.len() == LENGTH => Some(u16::from_be_bytes([a ^ c, b ^ d])),
        _ => None,
    }
}

/// Returns the number of the worker that a datagram's destination names; `None` for datagrams that begin a connection, whose
/// identifiers clients choose.
pub fn worker_of(datagram: &[u8]) -> Option<u16> {
    let first = *datagram.first()?;
    if first & LONG == 0 {
        return named(datagram.get(1..=LENGTH)?);
    }
    if first & TYPE != HANDSHAKE {
        return None;
    }
    let length = usize::from(*datagram.get(LENGTH_AT)?);
    named(datagram.get(LENGTH_AT + 1..)?.get(..length)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_of_a_connection_name_its_worker() {
        for worker in [0, 1, 255, 4095, u16::MAX] {
            let mut ids = WorkerIds { worker };
            let id = ids.generate_cid();
            assert!(ids.validate(&id).is_ok() && WorkerIds { worker: worker ^ 256 }.validate(&id).is_err());
            assert_ne!(id, ids.generate_cid());
            let short = [&[0x40][..], &id, b"rest"].concat();
            assert_eq!(worker_of(&short), Some(worker));
            assert_eq!(worker_of(&short[..LENGTH]), None);
            let long = |first: u8| [&[first, 0, 0, 0, 1, LENGTH as u8][..], &id, b"rest"].concat();
            assert_eq!(worker_of(&long(0xe0)), Some(worker), "a packet of the handshake");
            assert_eq!(worker_of(&long(0xc0)), None, "the client has chosen the identifier of its first packet");
        }
        for short in [&[][..], &[0xe0], &[0xe0, 0, 0, 0, 1, 200, 7]] {
            assert_eq!(worker_of(short), None);
        }
    }
}
