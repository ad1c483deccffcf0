//! The global `crypto`: Web Crypto with digests, HMAC, AES and derived keys.

mod aes;
mod algorithm;
mod derive;
mod jwk;
mod key;
mod subtle;

use rquickjs::prelude::Func;
use rquickjs::{Ctx, Object, Result};

use super::builtin::Builtin;
use super::bytes;
use crate::host::{go_error, named_error};

/// Most random bytes of one call.
const MAX_RANDOM: usize = 65_536;

/// The module `k6/webcrypto`, whose export `crypto` is the global of that name.
pub struct WebCrypto;

impl Builtin for WebCrypto {
    const NAMES: &'static [&'static str] = &["k6/webcrypto", "k6/experimental/webcrypto"];
    const EXPORTS: &'static [&'static str] = &["crypto"];

    fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let module = Object::new(ctx.clone())?;
        module.set("crypto", object(ctx)?)?;
        Ok(module)
    }
}

/// Returns a new object `crypto`.
pub(super) fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let crypto = Object::new(ctx.clone())?;
    crypto.set("getRandomValues", Func::from(random_values))?;
    crypto.set("randomUUID", Func::from(random_uuid))?;
    crypto.set("subtle", subtle::object(ctx)?)?;
    crypto.set("CryptoKey", key::class(ctx)?)?;
    Ok(crypto)
}

fn random_values<'js>(ctx: Ctx<'js>, array: Object<'js>) -> Result<Object<'js>> {
    let length: usize = array.get::<_, Option<usize>>("byteLength")?.unwrap_or_default();
    if length > MAX_RANDOM {
        let message = "typedArray parameter is too big; maximum length is 65536";
        return Err(named_error(&ctx, "QuotaExceededError", message));
    }
    let mut failed = None;
    let filled = bytes::fill(&array, |length| {
        let mut content = vec![0; length];
        failed = getrandom::fill(&mut content).err();
        content
    })?;
    if let Some(error) = failed {
        return Err(go_error(&ctx, &format!("no random bytes: {error}")));
    }
    if !filled {
        return Err(named_error(&ctx, "TypeMismatchError", "typedArray parameter isn't a TypedArray of integers"));
    }
    Ok(array)
}

fn random_uuid(ctx: Ctx<'_>) -> Result<String> {
    let mut content = [0u8; 16];
    getrandom::fill(&mut content).map_err(|error| go_error(&ctx, &format!("no random bytes: {error}")))?;
    content[6] = content[6] & 0x0f | 0x40;
    content[8] = content[8] & 0x3f | 0x80;
    let digits = super::crypto::hex(&content);
    let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    Ok(parts.join("-"))
}
