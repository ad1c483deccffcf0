//! Length-prefixed messages: how gRPC writes messages into the content of requests and responses
//! (gRPC over HTTP/2, "Requests").

use crate::error::GrpcError;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::borrow::Cow;
use std::io::{Read, Write};

/// The bytes before each message: a flag and the length.
pub(crate) const PREFIX: usize = 5;

/// The coding of messages (`grpc-encoding`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Coding {
    /// As they are.
    #[default]
    Identity,
    /// Compressed by gzip.
    Gzip,
}

impl Coding {
    /// Returns the coding of a `grpc-encoding` field.
    pub fn of(value: &[u8]) -> Option<Self> {
        match value {
            b"identity" => Some(Self::Identity),
            b"gzip" => Some(Self::Gzip),
            _ => None,
        }
    }
}

/// Returns a message with its prefix, as it is sent.
#[must_use]
pub fn framed(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(PREFIX + message.len());
    write(message, Coding::Identity, &mut out);
    out
}

/// Appends a message with its prefix.
pub(crate) fn write(message: &[u8], coding: Coding, out: &mut Vec<u8>) {
    let at = out.len();
    out.extend_from_slice(&[u8::from(coding == Coding::Gzip), 0, 0, 0, 0]);
    match coding {
        Coding::Identity => out.extend_from_slice(message),
        Coding::Gzip => {
            let mut encoder = GzEncoder::new(&mut *out, Compression::default());
            // A vector takes all that is written.
            let _ = encoder.write_all(message).and_then(|()| encoder.try_finish());
        }
    }
    let length = (out.len() - at - PREFIX) as u32;
    out[at + 1..at + PREFIX].copy_from_slice(&length.to_be_bytes());
}

/// Returns the messages of content, decompressed to at most `most` bytes each.
///
/// # Errors
/// [`GrpcError::Framing`].
pub(crate) fn split(mut content: &[u8], coding: Option<Coding>, most: usize) -> Result<Vec<Cow<'_, [u8]>>, GrpcError> {
    let mut messages = Vec::new();
    while let Some((&[flag, a, b, c, d], rest)) = content.split_first_chunk::<PREFIX>() {
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        let Some((message, rest)) = rest.split_at_checked(length) else {
            return Err(GrpcError::Framing("the last message is incomplete"));
        };
        messages.push(match (flag, coding) {
            (0, _) => Cow::Borrowed(message),
            (1, Some(Coding::Gzip)) => Cow::Owned(decompressed(message, most)?),
            (1, Some(Coding::Identity)) => {
                return Err(GrpcError::Framing("a message is compressed although there is no grpc-encoding"));
            }
            (1, None) => return Err(GrpcError::Framing("a message has a compression that is not supported")),
            _ => return Err(GrpcError::Framing("invalid flag before a message")),
        });
        content = rest;
    }
    if !content.is_empty() {
        return Err(GrpcError::Framing("the prefix of the last message is incomplete"));
    }
    Ok(messages)
}

fn decompressed(message: &[u8], most: usize) -> Result<Vec<u8>, GrpcError> {
    let mut out = Vec::new();
    GzDecoder::new(message)
        .take(most as u64 + 1)
        .read_to_end(&mut out)
        .map_err(|_| GrpcError::Framing("a compressed message is malformed"))?;
    if out.len() > most {
        return Err(GrpcError::Framing("a compressed message is too large"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_return_as_they_were_written() {
        for coding in [Coding::Identity, Coding::Gzip] {
            let mut content = Vec::new();
            let messages: [&[u8]; 3] = [b"one", b"", &[7; 1000]];
            messages.iter().for_each(|message| write(message, coding, &mut content));
            assert_eq!(split(&content, Some(coding), 1000).expect("they were written"), messages);
            assert!(split(&content[..content.len() - 1], Some(coding), 1000).is_err());
        }
    }

    #[test]
    fn hostile_content_is_refused_in_one_line() {
        let mut bomb = Vec::new();
        write(&[0; 100_000], Coding::Gzip, &mut bomb);
        for (content, coding, why) in [
            (&b"\0\0\0"[..], Some(Coding::Identity), "the prefix of the last message is incomplete"),
            (b"\0\xff\xff\xff\xff", Some(Coding::Identity), "the last message is incomplete"),
            (b"\x02\0\0\0\0", Some(Coding::Identity), "invalid flag before a message"),
            (b"\x01\0\0\0\0", Some(Coding::Identity), "a message is compressed although there is no grpc-encoding"),
            (b"\x01\0\0\0\0", None, "a message has a compression that is not supported"),
            (b"\x01\0\0\0\x02ab", Some(Coding::Gzip), "a compressed message is malformed"),
            (&bomb, Some(Coding::Gzip), "a compressed message is too large"),
        ] {
            assert_eq!(split(content, coding, 1000), Err(GrpcError::Framing(why)));
        }
    }
}
