//! Values of header fields whose names end in `-bin`: bytes in base64 (gRPC over HTTP/2, "Requests").

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD_NO_PAD;

/// The ending of the names of these fields.
const BINARY: &str = "-bin";
/// Base64 with padding or without.
const EITHER: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Returns the value of a field as it is sent.
pub(super) fn encoded(name: &str, value: &[u8]) -> Vec<u8> {
    match name.ends_with(BINARY) {
        true => BASE64_STANDARD_NO_PAD.encode(value).into_bytes(),
        false => value.to_vec(),
    }
}

/// Returns the value of a field as the other side meant it.
pub(super) fn decoded(name: &str, value: &[u8]) -> Vec<u8> {
    match name.ends_with(BINARY) {
        true => EITHER.decode(value).unwrap_or_else(|_| value.to_vec()),
        false => value.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_return_as_they_were_sent() {
        let sent = encoded("x-bin", &[255, 0]);
        assert_eq!((sent.as_slice(), decoded("x-bin", &sent)), (&b"/wA"[..], vec![255, 0]));
        assert_eq!(decoded("x-bin", b"/wA="), [255, 0]);
        assert_eq!((encoded("x", b"a"), decoded("x", b"/wA=")), (b"a".to_vec(), b"/wA=".to_vec()));
    }
}
