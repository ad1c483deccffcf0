//! The module `k6/crypto`: hashes, HMAC and random bytes.

mod hash;

use std::cell::RefCell;

use base64::engine::Engine;
use rquickjs::prelude::{Func, Opt, This};
use rquickjs::{ArrayBuffer, Class, Ctx, Function, IntoJs, Object, Result, Value};

use super::builtin::Builtin;
use super::{bytes, encoding};
use crate::host::{self, Host, HostClass, go_error};

pub(super) use hash::{Algorithm, Hasher, hash, hmac};

/// Most random bytes of one call.
const MAX_RANDOM: f64 = (64 << 20) as f64;

/// The module `k6/crypto`.
pub struct Crypto;

impl Builtin for Crypto {
    const NAMES: &'static [&'static str] = &["k6/crypto"];
    const EXPORTS: &'static [&'static str] = &[
        "createHash",
        "createHMAC",
        "hexEncode",
        "hmac",
        "md4",
        "md5",
        "randomBytes",
        "ripemd160",
        "sha1",
        "sha256",
        "sha384",
        "sha512",
        "sha512_224",
        "sha512_256",
    ];

    fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let object = Object::new(ctx.clone())?;
        for (name, algorithm) in hash::ALGORITHMS {
            let function = move |ctx: Ctx<'js>, data: Opt<Value<'js>>, encoding: Opt<Value<'js>>| {
                let data = bytes::required(&ctx, &argument(&ctx, data), &format!("{name} failed: "))?;
                encoded(&ctx, &hash(*algorithm, &data), encoding)
            };
            object.set(*name, Function::new(ctx.clone(), function)?)?;
        }
        object.set("hmac", Func::from(keyed))?;
        object.set("createHash", Func::from(create_hash))?;
        object.set("createHMAC", Func::from(create_hmac))?;
        object.set("randomBytes", Func::from(random_bytes))?;
        object.set("hexEncode", Func::from(hex_encode))?;
        Ok(object)
    }
}

/// A hash or an HMAC that a script feeds piece by piece.
struct Running(RefCell<Hasher>);

impl HostClass for Running {
    const NAME: &'static str = "Hasher";

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let prototype = Object::new(ctx.clone())?;
        prototype.set("update", Func::from(update))?;
        prototype.set("digest", Func::from(digest))?;
        Ok(prototype)
    }
}

fn argument<'js>(ctx: &Ctx<'js>, value: Opt<Value<'js>>) -> Value<'js> {
    value.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()))
}

fn algorithm(ctx: &Ctx<'_>, name: &str) -> Result<Algorithm> {
    hash::named(name).ok_or_else(|| go_error(ctx, &format!("invalid algorithm: {name}")))
}

fn keyed<'js>(
    ctx: Ctx<'js>,
    name: String,
    key: Value<'js>,
    data: Opt<Value<'js>>,
    encoding: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    let algorithm = algorithm(&ctx, &name)?;
    let key = bytes::required(&ctx, &key, "")?;
    let data = bytes::required(&ctx, &argument(&ctx, data), "")?;
    encoded(&ctx, &hmac(algorithm, &key, &data), encoding)
}

fn create_hash<'js>(ctx: Ctx<'js>, name: String) -> Result<Object<'js>> {
    let hasher = Hasher::new(algorithm(&ctx, &name)?);
    host::object(&ctx, Running(RefCell::new(hasher)))
}

fn create_hmac<'js>(ctx: Ctx<'js>, name: String, key: Value<'js>) -> Result<Object<'js>> {
    let key = bytes::required(&ctx, &key, "")?;
    let hasher = Hasher::keyed(algorithm(&ctx, &name)?, &key);
    host::object(&ctx, Running(RefCell::new(hasher)))
}

fn update<'js>(ctx: Ctx<'js>, this: This<Class<'js, Host<Running>>>, data: Opt<Value<'js>>) -> Result<()> {
    let data = bytes::required(&ctx, &argument(&ctx, data), "")?;
    this.0.borrow().0.0.borrow_mut().update(&data);
    Ok(())
}

fn digest<'js>(ctx: Ctx<'js>, this: This<Class<'js, Host<Running>>>, encoding: Opt<Value<'js>>) -> Result<Value<'js>> {
    let value = this.0.borrow().0.0.borrow().value();
    encoded(&ctx, &value, encoding)
}

fn random_bytes<'js>(ctx: Ctx<'js>, size: f64) -> Result<ArrayBuffer<'js>> {
    if !(1.0..=MAX_RANDOM).contains(&size) {
        return Err(go_error(&ctx, "invalid size"));
    }
    let mut content = vec![0u8; size as usize];
    getrandom::fill(&mut content).map_err(|error| go_error(&ctx, &format!("no random bytes: {error}")))?;
    ArrayBuffer::new(ctx, content)
}

fn hex_encode<'js>(ctx: Ctx<'js>, data: Opt<Value<'js>>) -> Result<String> {
    Ok(hex(&bytes::required(&ctx, &argument(&ctx, data), "")?))
}

/// Returns bytes as hexadecimal digits.
pub(super) fn hex(content: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(content.len() * 2);
    for byte in content {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

fn encoded<'js>(ctx: &Ctx<'js>, content: &[u8], encoding: Opt<Value<'js>>) -> Result<Value<'js>> {
    let name = encoding.0.and_then(|value| value.get::<String>().ok()).unwrap_or_default();
    let text = match name.as_str() {
        "hex" => hex(content),
        "base64" => encoding::variant("std").encode(content),
        "base64url" => encoding::variant("url").encode(content),
        "base64rawurl" => encoding::variant("rawurl").encode(content),
        "binary" => return Ok(ArrayBuffer::new(ctx.clone(), content)?.into_value()),
        _ => return Err(go_error(ctx, &format!("invalid output encoding: {name}"))),
    };
    text.into_js(ctx)
}
