//! The keys of packets, by `rustls` for `quinn-proto`.

use bytes::BytesMut;
use quinn_proto::crypto::{self, CryptoError, KeyPair, Keys};
use rustls::quic;

/// Returns the keys of a phase of the handshake.
pub fn keys(keys: quic::Keys) -> Keys {
    Keys {
        header: KeyPair {
            local: Box::new(HeaderKey(keys.local.header)),
            remote: Box::new(HeaderKey(keys.remote.header)),
        },
        packet: packet_keys(keys.local.packet, keys.remote.packet),
    }
}

/// Returns the keys of one direction, such as those of early data.
pub fn direction(keys: quic::DirectionalKeys) -> (Box<dyn crypto::HeaderKey>, Box<dyn crypto::PacketKey>) {
    (Box::new(HeaderKey(keys.header)), Box::new(PacketKey(keys.packet)))
}

/// Returns the keys of packets after an update, which leaves those of headers.
pub fn packet_keys(
    local: Box<dyn quic::PacketKey>,
    remote: Box<dyn quic::PacketKey>,
) -> KeyPair<Box<dyn crypto::PacketKey>> {
    KeyPair { local: Box::new(PacketKey(local)), remote: Box::new(PacketKey(remote)) }
}

/// The longest number of a packet, in bytes, behind which the sample of a header's protection begins (RFC 9001, section 5.4.2).
const LONGEST_NUMBER: usize = 4;

/// The key that protects headers in one direction.
struct HeaderKey(Box<dyn quic::HeaderProtectionKey>);

impl HeaderKey {
    /// Returns the sample, the first byte, and the packet's number at most of a packet; `None` if the packet is too short, which
    /// `quinn-proto` checks before.
    fn parts<'p>(&self, number: usize, packet: &'p mut [u8]) -> Option<(&'p [u8], &'p mut u8, &'p mut [u8])> {
        let (header, sample) = packet.split_at_mut_checked(number + LONGEST_NUMBER)?;
        let sample = sample.get(..self.0.sample_len())?;
        let (first, rest) = header.split_first_mut()?;
        Some((sample, first, rest.get_mut(number - 1..)?))
    }
}

impl crypto::HeaderKey for HeaderKey {
    fn decrypt(&self, pn_offset: usize, packet: &mut [u8]) {
        if let Some((sample, first, number)) = self.parts(pn_offset, packet) {
            // Only a sample of a wrong length is an error.
            let _ = self.0.decrypt_in_place(sample, first, number);
        }
    }

    fn encrypt(&self, pn_offset: usize, packet: &mut [u8]) {
        if let Some((sample, first, number)) = self.parts(pn_offset, packet) {
            let _ = self.0.encrypt_in_place(sample, first, number);
        }
    }

    fn sample_size(&self) -> usize {
        self.0.sample_len()
    }
}

/// The key of packets in one direction.
struct PacketKey(Box<dyn quic::PacketKey>);

impl crypto::PacketKey for PacketKey {
    #[inline]
    fn encrypt(&self, packet: u64, buf: &mut [u8], header_len: usize) {
        let (header, rest) = buf.split_at_mut(header_len);
        let (payload, tag) = rest.split_at_mut(rest.len() - self.0.tag_len());
        let made = self.0.encrypt_in_place(packet, header, payload);
        tag.copy_from_slice(made.expect("the lengths of the nonce and the key are those of the cipher").as_ref());
    }

    #[inline]
    fn decrypt(&self, packet: u64, header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let len = self.0.decrypt_in_place(packet, header, payload).map_err(|_| CryptoError)?.len();
        payload.truncate(len);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        self.0.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.0.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.0.integrity_limit()
    }
}
