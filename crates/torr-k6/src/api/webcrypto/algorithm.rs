//! Algorithms of Web Crypto as scripts name them.

use rquickjs::{Ctx, Object, Result, Value};

use super::super::bytes;
use super::super::crypto::Algorithm as Hash;
use crate::host::named_error;

/// An algorithm of Web Crypto that is supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    AesCbc,
    AesCtr,
    AesGcm,
    Hmac,
    Pbkdf2,
    Hkdf,
}

const ALGORITHMS: [(&str, Algorithm); 6] = [
    ("AES-CBC", Algorithm::AesCbc),
    ("AES-CTR", Algorithm::AesCtr),
    ("AES-GCM", Algorithm::AesGcm),
    ("HMAC", Algorithm::Hmac),
    ("PBKDF2", Algorithm::Pbkdf2),
    ("HKDF", Algorithm::Hkdf),
];

const HASHES: [(&str, Hash); 4] =
    [("SHA-1", Hash::Sha1), ("SHA-256", Hash::Sha256), ("SHA-384", Hash::Sha384), ("SHA-512", Hash::Sha512)];

impl Algorithm {
    pub(super) fn name(self) -> &'static str {
        // Each algorithm is in the table.
        ALGORITHMS.iter().find(|(_, one)| *one == self).map_or("", |(name, _)| name)
    }

    pub(super) fn is_aes(self) -> bool {
        matches!(self, Algorithm::AesCbc | Algorithm::AesCtr | Algorithm::AesGcm)
    }
}

/// Returns the name of a hash.
pub(super) fn hash_name(hash: Hash) -> &'static str {
    HASHES.iter().find(|(_, one)| *one == hash).map_or("", |(name, _)| name)
}

/// Returns the algorithm that a string or an object with a name means, for `operation`.
pub(super) fn parse<'js>(ctx: &Ctx<'js>, value: &Value<'js>, operation: &str) -> Result<Algorithm> {
    let name = name(ctx, value)?;
    let found = ALGORITHMS.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name));
    found.map(|(_, algorithm)| *algorithm).ok_or_else(|| unsupported(ctx, &name, operation))
}

/// Returns the hash that a string or an object with a name means, for `operation`.
pub(super) fn parse_hash<'js>(ctx: &Ctx<'js>, value: &Value<'js>, operation: &str) -> Result<Hash> {
    let name = name(ctx, value)?;
    let found = HASHES.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name));
    found.map(|(_, hash)| *hash).ok_or_else(|| unsupported(ctx, &name, operation))
}

/// Returns the error of an algorithm that an operation does not support, after it was thrown.
pub(super) fn unsupported(ctx: &Ctx<'_>, name: &str, operation: &str) -> rquickjs::Error {
    named_error(ctx, "NotSupportedError", &format!("algorithm \"{name}\" is not supported for \"{operation}\""))
}

fn name<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<String> {
    let name = match value.as_object() {
        Some(object) => object.get::<_, Value<'js>>("name")?.get::<String>().ok(),
        None => value.get::<String>().ok(),
    };
    name.ok_or_else(|| named_error(ctx, "TypeError", "an algorithm needs a name"))
}

/// Returns the member of an algorithm's object; a string has no members.
pub(super) fn member<'js>(ctx: &Ctx<'js>, algorithm: &Value<'js>, name: &str) -> Result<Value<'js>> {
    match algorithm.as_object() {
        Some(object) => object.get(name),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

/// Returns the bytes of a member of an algorithm's object, which are `None` if there is none.
pub(super) fn bytes_member<'js>(ctx: &Ctx<'js>, algorithm: &Value<'js>, name: &str) -> Result<Option<Vec<u8>>> {
    let value = member(ctx, algorithm, name)?;
    if value.is_undefined() || value.is_null() {
        return Ok(None);
    }
    buffer(ctx, &value, name).map(Some)
}

/// Returns a number among the members of an algorithm's object; `None` if there is none.
pub(super) fn number_member<'js>(ctx: &Ctx<'js>, algorithm: &Value<'js>, name: &str) -> Result<Option<usize>> {
    let value = member(ctx, algorithm, name)?;
    if value.is_undefined() {
        return Ok(None);
    }
    match value.as_number() {
        Some(number) if number >= 0.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0 => {
            Ok(Some(number as usize))
        }
        _ => Err(named_error(ctx, "TypeError", &format!("'{name}' must be a whole number"))),
    }
}

/// Returns the bytes of an ArrayBuffer or of a view of one; `what` names the value in the error for others.
pub(super) fn buffer<'js>(ctx: &Ctx<'js>, value: &Value<'js>, what: &str) -> Result<Vec<u8>> {
    let content = value.as_object().map(|object: &Object<'js>| bytes::of_buffer(object)).transpose()?.flatten();
    content.ok_or_else(|| named_error(ctx, "TypeError", &format!("'{what}' must be an ArrayBuffer or a view of one")))
}
