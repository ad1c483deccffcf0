//! `crypto.subtle`: operations that return promises.

use rquickjs::prelude::{Func, Opt};
use rquickjs::{ArrayBuffer, Ctx, Error, Exception, Function, IntoJs, Object, Promise, Result, Value};

use super::super::crypto::{Algorithm as Hash, hash, hmac};
use super::aes::{self, Direction};
use super::algorithm::{Algorithm, buffer, bytes_member, member, number_member, parse, parse_hash, unsupported};
use super::key::{Key, usages, with_key};
use super::{derive, jwk};
use crate::host::named_error;

/// Largest HMAC key that is generated, in bits.
const MAX_KEY_BITS: usize = 1 << 16;

/// Returns the object `crypto.subtle`.
pub(super) fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let subtle = Object::new(ctx.clone())?;
    subtle.set("digest", Func::from(|ctx: Ctx<'js>, name, data| settle(&ctx, digest(&ctx, &name, &data))))?;
    subtle.set(
        "generateKey",
        Func::from(|ctx: Ctx<'js>, name, extractable, requested| {
            settle(&ctx, generate_key(&ctx, &name, extractable, &requested))
        }),
    )?;
    subtle.set(
        "importKey",
        Func::from(|ctx: Ctx<'js>, format: String, data, name, extractable, requested| {
            settle(&ctx, import_key(&ctx, &format, &data, &name, extractable, &requested))
        }),
    )?;
    subtle.set(
        "exportKey",
        Func::from(|ctx: Ctx<'js>, format: String, key| settle(&ctx, export_key(&ctx, &format, &key))),
    )?;
    subtle.set("sign", Func::from(|ctx: Ctx<'js>, name, key, data| settle(&ctx, sign(&ctx, &name, &key, &data))))?;
    subtle.set(
        "verify",
        Func::from(|ctx: Ctx<'js>, name, key, signature, data| {
            settle(&ctx, verify(&ctx, &name, &key, &signature, &data))
        }),
    )?;
    for (method, direction) in [("encrypt", Direction::Encrypt), ("decrypt", Direction::Decrypt)] {
        let function = move |ctx: Ctx<'js>, name: Value<'js>, key: Value<'js>, data: Value<'js>| {
            settle(&ctx, crypt(&ctx, direction, &name, &key, &data))
        };
        subtle.set(method, Function::new(ctx.clone(), function)?)?;
    }
    subtle.set(
        "deriveBits",
        Func::from(|ctx: Ctx<'js>, name, key, length: Opt<Option<f64>>| {
            let bits = length.0.flatten().unwrap_or_default();
            settle(&ctx, derive_bits(&ctx, &name, &key, bits).and_then(|bytes| ArrayBuffer::new(ctx.clone(), bytes)))
        }),
    )?;
    subtle.set(
        "deriveKey",
        Func::from(|ctx: Ctx<'js>, name, key, wanted, extractable, requested| {
            settle(&ctx, derive_key(&ctx, &name, &key, &wanted, extractable, &requested))
        }),
    )?;
    for method in ["wrapKey", "unwrapKey"] {
        let refuse = move |ctx: Ctx<'js>| settle::<Value<'js>>(&ctx, Err(not_supported(&ctx, method)));
        subtle.set(method, Function::new(ctx.clone(), refuse)?)?;
    }
    Ok(subtle)
}

/// Returns a promise that is settled with a result.
fn settle<'js, T: IntoJs<'js>>(ctx: &Ctx<'js>, result: Result<T>) -> Result<Promise<'js>> {
    let (promise, resolve, reject) = Promise::new(ctx)?;
    match result {
        Ok(value) => resolve.call::<_, ()>((value,))?,
        Err(Error::Exception) => reject.call::<_, ()>((ctx.catch(),))?,
        Err(error) => reject.call::<_, ()>((Exception::from_message(ctx.clone(), &error.to_string())?,))?,
    }
    Ok(promise)
}

fn not_supported(ctx: &Ctx<'_>, method: &str) -> Error {
    named_error(ctx, "NotSupportedError", &format!("{method} is not supported"))
}

fn operation_error(ctx: &Ctx<'_>, message: &str) -> Error {
    named_error(ctx, "OperationError", message)
}

fn digest<'js>(ctx: &Ctx<'js>, name: &Value<'js>, data: &Value<'js>) -> Result<ArrayBuffer<'js>> {
    let algorithm = parse_hash(ctx, name, "digest")?;
    ArrayBuffer::new(ctx.clone(), hash(algorithm, &buffer(ctx, data, "data")?))
}

/// Returns the hash that an algorithm's member `hash` names.
fn hash_of<'js>(ctx: &Ctx<'js>, name: &Value<'js>, operation: &str) -> Result<Hash> {
    parse_hash(ctx, &member(ctx, name, "hash")?, operation)
}

/// Returns the number of bytes of a key that is to be made.
fn key_length<'js>(ctx: &Ctx<'js>, algorithm: Algorithm, name: &Value<'js>, hash: Option<Hash>) -> Result<usize> {
    let bits = number_member(ctx, name, "length")?;
    match (algorithm, bits, hash) {
        (_, Some(bits @ (128 | 192 | 256)), None) if algorithm.is_aes() => Ok(bits / 8),
        (_, _, None) if algorithm.is_aes() => Err(operation_error(ctx, "an AES key has 128, 192 or 256 bits")),
        (_, None, Some(hash)) => Ok(hash.block()),
        (_, Some(bits), Some(_)) if bits > 0 && bits <= MAX_KEY_BITS && bits.is_multiple_of(8) => Ok(bits / 8),
        _ => Err(operation_error(ctx, "the length of the key is not supported")),
    }
}

fn generate_key<'js>(
    ctx: &Ctx<'js>,
    name: &Value<'js>,
    extractable: bool,
    requested: &Value<'js>,
) -> Result<Object<'js>> {
    let algorithm = parse(ctx, name, "generateKey")?;
    if matches!(algorithm, Algorithm::Pbkdf2 | Algorithm::Hkdf) {
        return Err(unsupported(ctx, algorithm.name(), "generateKey"));
    }
    let hash = if algorithm == Algorithm::Hmac { Some(hash_of(ctx, name, "generateKey")?) } else { None };
    let mut bytes = vec![0; key_length(ctx, algorithm, name, hash)?];
    getrandom::fill(&mut bytes).map_err(|error| operation_error(ctx, &format!("no random bytes: {error}")))?;
    let usages = usages(ctx, algorithm, requested)?;
    Key { algorithm, hash, extractable, usages, bytes }.into_object(ctx)
}

fn import_key<'js>(
    ctx: &Ctx<'js>,
    format: &str,
    data: &Value<'js>,
    name: &Value<'js>,
    extractable: bool,
    requested: &Value<'js>,
) -> Result<Object<'js>> {
    let algorithm = parse(ctx, name, "importKey")?;
    let bytes = match format {
        "raw" => buffer(ctx, data, "keyData")?,
        "jwk" => jwk::import(ctx, data)?,
        _ => return Err(unsupported(ctx, algorithm.name(), &format!("importKey of the format {format}"))),
    };
    if algorithm.is_aes() && ![16, 24, 32].contains(&bytes.len()) {
        return Err(named_error(ctx, "DataError", "an AES key has 128, 192 or 256 bits"));
    }
    let hash = if algorithm == Algorithm::Hmac { Some(hash_of(ctx, name, "importKey")?) } else { None };
    if hash.is_some() && bytes.is_empty() {
        return Err(named_error(ctx, "DataError", "an HMAC key must not be empty"));
    }
    let usages = usages(ctx, algorithm, requested)?;
    Key { algorithm, hash, extractable, usages, bytes }.into_object(ctx)
}

fn export_key<'js>(ctx: &Ctx<'js>, format: &str, key: &Value<'js>) -> Result<Value<'js>> {
    with_key(ctx, key, None, "", |key| {
        if !key.extractable {
            return Err(named_error(ctx, "InvalidAccessError", "the key is not extractable"));
        }
        match format {
            "raw" => Ok(ArrayBuffer::new(ctx.clone(), key.bytes.clone())?.into_value()),
            "jwk" => Ok(jwk::export(ctx, key)?.into_value()),
            _ => Err(unsupported(ctx, key.algorithm.name(), &format!("exportKey to the format {format}"))),
        }
    })
}

/// Returns the HMAC of `data` with the key, which must allow `usage`.
fn mac<'js>(ctx: &Ctx<'js>, name: &Value<'js>, key: &Value<'js>, usage: &str, data: &Value<'js>) -> Result<Vec<u8>> {
    let algorithm = parse(ctx, name, usage)?;
    if algorithm != Algorithm::Hmac {
        return Err(unsupported(ctx, algorithm.name(), usage));
    }
    let data = buffer(ctx, data, "data")?;
    with_key(ctx, key, Some(algorithm), usage, |key| Ok(hmac(key.hash.unwrap_or(Hash::Sha256), &key.bytes, &data)))
}

fn sign<'js>(ctx: &Ctx<'js>, name: &Value<'js>, key: &Value<'js>, data: &Value<'js>) -> Result<ArrayBuffer<'js>> {
    ArrayBuffer::new(ctx.clone(), mac(ctx, name, key, "sign", data)?)
}

fn verify<'js>(
    ctx: &Ctx<'js>,
    name: &Value<'js>,
    key: &Value<'js>,
    signature: &Value<'js>,
    data: &Value<'js>,
) -> Result<bool> {
    let expected = buffer(ctx, signature, "signature")?;
    Ok(mac(ctx, name, key, "verify", data)? == expected)
}

fn crypt<'js>(
    ctx: &Ctx<'js>,
    direction: Direction,
    name: &Value<'js>,
    key: &Value<'js>,
    data: &Value<'js>,
) -> Result<ArrayBuffer<'js>> {
    let usage = if direction == Direction::Encrypt { "encrypt" } else { "decrypt" };
    let algorithm = parse(ctx, name, usage)?;
    let data = buffer(ctx, data, "data")?;
    let needed = |member: &str| -> Result<Vec<u8>> {
        bytes_member(ctx, name, member)?
            .ok_or_else(|| named_error(ctx, "TypeError", &format!("{} needs '{member}'", algorithm.name())))
    };
    let done = with_key(ctx, key, Some(algorithm), usage, |key| match algorithm {
        Algorithm::AesCbc => Ok(aes::cbc(direction, &key.bytes, &needed("iv")?, &data)),
        Algorithm::AesCtr => {
            let length = number_member(ctx, name, "length")?.unwrap_or_default();
            Ok(aes::ctr(&key.bytes, &needed("counter")?, length, &data))
        }
        Algorithm::AesGcm => {
            if number_member(ctx, name, "tagLength")?.is_some_and(|bits| bits != 128) {
                return Err(operation_error(ctx, "a tagLength other than 128 is not supported"));
            }
            let associated = bytes_member(ctx, name, "additionalData")?.unwrap_or_default();
            Ok(aes::gcm(direction, &key.bytes, &needed("iv")?, &associated, &data))
        }
        _ => Err(unsupported(ctx, algorithm.name(), usage)),
    })?;
    ArrayBuffer::new(ctx.clone(), done.map_err(|message| operation_error(ctx, &message))?)
}

fn derive_bits<'js>(ctx: &Ctx<'js>, name: &Value<'js>, key: &Value<'js>, bits: f64) -> Result<Vec<u8>> {
    let bytes = bits / 8.0;
    if !(bytes > 0.0 && bytes <= derive::MAX_LENGTH as f64 && bytes.fract() == 0.0) {
        return Err(operation_error(ctx, "the number of bits must be a multiple of 8, up to 32768"));
    }
    derived(ctx, name, key, "deriveBits", bytes as usize)
}

fn derived<'js>(ctx: &Ctx<'js>, name: &Value<'js>, key: &Value<'js>, usage: &str, length: usize) -> Result<Vec<u8>> {
    let algorithm = parse(ctx, name, usage)?;
    let hash = hash_of(ctx, name, usage)?;
    let salt = bytes_member(ctx, name, "salt")?.unwrap_or_default();
    with_key(ctx, key, Some(algorithm), usage, |key| match algorithm {
        Algorithm::Pbkdf2 => match number_member(ctx, name, "iterations")? {
            Some(rounds) if (1..=derive::MAX_ROUNDS).contains(&rounds) => {
                Ok(derive::pbkdf2(hash, &key.bytes, &salt, rounds, length))
            }
            _ => Err(operation_error(ctx, "'iterations' must be a number from 1 to 10,000,000")),
        },
        Algorithm::Hkdf => {
            let info = bytes_member(ctx, name, "info")?.unwrap_or_default();
            derive::hkdf(hash, &key.bytes, &salt, &info, length)
                .ok_or_else(|| operation_error(ctx, "HKDF cannot derive so many bits"))
        }
        _ => Err(unsupported(ctx, algorithm.name(), usage)),
    })
}

fn derive_key<'js>(
    ctx: &Ctx<'js>,
    name: &Value<'js>,
    key: &Value<'js>,
    wanted: &Value<'js>,
    extractable: bool,
    requested: &Value<'js>,
) -> Result<Object<'js>> {
    let algorithm = parse(ctx, wanted, "deriveKey")?;
    let hash = if algorithm == Algorithm::Hmac { Some(hash_of(ctx, wanted, "deriveKey")?) } else { None };
    let length = key_length(ctx, algorithm, wanted, hash)?;
    let bytes = derived(ctx, name, key, "deriveKey", length)?;
    let usages = usages(ctx, algorithm, requested)?;
    Key { algorithm, hash, extractable, usages, bytes }.into_object(ctx)
}
