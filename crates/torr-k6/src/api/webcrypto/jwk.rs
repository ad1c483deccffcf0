//! Secret keys as JSON Web Keys (RFC 7517).

use base64::engine::Engine;
use rquickjs::{Ctx, Object, Result, Value};

use super::super::crypto::Algorithm as Hash;
use super::super::encoding;
use super::algorithm::Algorithm;
use super::key::Key;
use crate::host::named_error;

/// Returns a key as a JSON Web Key.
pub(super) fn export<'js>(ctx: &Ctx<'js>, key: &Key) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("kty", "oct")?;
    object.set("k", encoding::variant("rawurl").encode(&key.bytes))?;
    object.set("alg", algorithm_name(key))?;
    object.set("ext", key.extractable)?;
    object.set("key_ops", key.usages.clone())?;
    Ok(object)
}

/// Returns the bytes of a JSON Web Key.
pub(super) fn import<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Vec<u8>> {
    let fault = |message: &str| named_error(ctx, "DataError", message);
    let object = value.as_object().ok_or_else(|| fault("a JSON Web Key must be an object"))?;
    if object.get::<_, Option<String>>("kty")?.as_deref() != Some("oct") {
        return Err(fault("only JSON Web Keys of the type \"oct\" are supported"));
    }
    let coded: String = object.get::<_, Option<String>>("k")?.ok_or_else(|| fault("the JSON Web Key has no \"k\""))?;
    encoding::variant("rawurl")
        .decode(coded.trim_end_matches('='))
        .map_err(|_| fault("\"k\" of the JSON Web Key is not base64url"))
}

fn algorithm_name(key: &Key) -> String {
    let bits = key.bytes.len() * 8;
    match (key.algorithm, key.hash) {
        (Algorithm::Hmac, Some(Hash::Sha1)) => "HS1".to_owned(),
        (Algorithm::Hmac, Some(Hash::Sha384)) => "HS384".to_owned(),
        (Algorithm::Hmac, Some(Hash::Sha512)) => "HS512".to_owned(),
        (Algorithm::Hmac, _) => "HS256".to_owned(),
        (algorithm, _) => format!("A{bits}{}", algorithm.name().trim_start_matches("AES-")),
    }
}
