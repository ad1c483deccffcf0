//! Keys of Web Crypto.

use rquickjs::function::Constructor;
use rquickjs::{Class, Ctx, Object, Result, Value};

use super::super::crypto::Algorithm as Hash;
use super::algorithm::{Algorithm, hash_name};
use crate::host::{self, Host, HostClass, named_error};

/// What keys may be made for, in the order in which scripts see it.
const USAGES: [&str; 8] = ["encrypt", "decrypt", "sign", "verify", "deriveKey", "deriveBits", "wrapKey", "unwrapKey"];

/// A secret key.
pub(super) struct Key {
    pub(super) algorithm: Algorithm,
    /// The hash of an HMAC.
    pub(super) hash: Option<Hash>,
    pub(super) extractable: bool,
    pub(super) usages: Vec<&'static str>,
    pub(super) bytes: Vec<u8>,
}

impl HostClass for Key {
    const NAME: &'static str = "CryptoKey";

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        Object::new(ctx.clone())
    }
}

/// Returns the class `CryptoKey`, which scripts cannot construct.
pub(super) fn class<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let refuse = |ctx: Ctx<'js>| -> Result<Value<'js>> { Err(named_error(&ctx, "TypeError", "illegal constructor")) };
    Ok(Constructor::new_class::<Host<Key>, _, _>(ctx.clone(), refuse)?.into_inner().into_inner())
}

impl Key {
    /// Returns the key as scripts see it.
    pub(super) fn into_object<'js>(self, ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let algorithm = Object::new(ctx.clone())?;
        algorithm.set("name", self.algorithm.name())?;
        if !matches!(self.algorithm, Algorithm::Pbkdf2 | Algorithm::Hkdf) {
            algorithm.set("length", self.bytes.len() * 8)?;
        }
        if let Some(hash) = self.hash {
            let object = Object::new(ctx.clone())?;
            object.set("name", hash_name(hash))?;
            algorithm.set("hash", object)?;
        }
        let (extractable, usages) = (self.extractable, self.usages.clone());
        let object = host::object(ctx, self)?;
        object.set("type", "secret")?;
        object.set("extractable", extractable)?;
        object.set("algorithm", algorithm)?;
        object.set("usages", usages)?;
        Ok(object)
    }
}

/// Runs `work` with the key that a script hands over, which must be one for `algorithm` and `usage`.
pub(super) fn with_key<'js, T>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    algorithm: Option<Algorithm>,
    usage: &str,
    work: impl FnOnce(&Key) -> Result<T>,
) -> Result<T> {
    let class = value.as_object().and_then(Class::<Host<Key>>::from_object);
    let Some(class) = class else {
        return Err(named_error(ctx, "TypeError", "the key must be a CryptoKey"));
    };
    let key = class.borrow();
    let refuse = |message: String| Err(named_error(ctx, "InvalidAccessError", &message));
    if let Some(algorithm) = algorithm
        && key.algorithm != algorithm
    {
        return refuse(format!("the key is one for {}, not for {}", key.algorithm.name(), algorithm.name()));
    }
    if !usage.is_empty() && !key.usages.contains(&usage) {
        return refuse(format!("the key does not allow the usage \"{usage}\""));
    }
    work(&key)
}

/// Returns the usages that a script asks for. Each must be one that the algorithm has.
pub(super) fn usages<'js>(ctx: &Ctx<'js>, algorithm: Algorithm, value: &Value<'js>) -> Result<Vec<&'static str>> {
    let allowed: &[&str] = match algorithm {
        Algorithm::Hmac => &["sign", "verify"],
        Algorithm::Pbkdf2 | Algorithm::Hkdf => &["deriveKey", "deriveBits"],
        _ => &["encrypt", "decrypt", "wrapKey", "unwrapKey"],
    };
    let no_list = || named_error(ctx, "TypeError", "the usages must be a list");
    let requested = host::items(value.as_array().ok_or_else(no_list)?)?;
    let requested: Vec<String> = requested.map(|usage| usage?.get()).collect::<Result<_>>().map_err(|_| no_list())?;
    if let Some(wrong) = requested.iter().find(|usage| !allowed.contains(&usage.as_str())) {
        let message = format!("{} keys have no usage \"{wrong}\"", algorithm.name());
        return Err(named_error(ctx, "SyntaxError", &message));
    }
    if requested.is_empty() {
        return Err(named_error(ctx, "SyntaxError", "a secret key needs a usage"));
    }
    Ok(USAGES.into_iter().filter(|usage| requested.iter().any(|one| one == usage)).collect())
}
