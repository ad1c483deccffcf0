//! The module `k6/encoding`: base64 in four variants.

use base64::DecodeError;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, Engine};
use rquickjs::prelude::{Func, Opt};
use rquickjs::{ArrayBuffer, Ctx, IntoJs, Object, Result, Value};

use super::builtin::Builtin;
use super::bytes;
use crate::host::go_error;

/// The module `k6/encoding`.
pub struct Encoding;

impl Builtin for Encoding {
    const NAMES: &'static [&'static str] = &["k6/encoding"];
    const EXPORTS: &'static [&'static str] = &["b64encode", "b64decode"];

    fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let object = Object::new(ctx.clone())?;
        object.set("b64encode", Func::from(encode))?;
        object.set("b64decode", Func::from(decode))?;
        Ok(object)
    }
}

/// Returns the engine of a variant of base64. k6 takes the standard one for names that it does not know.
pub(super) fn variant(name: &str) -> GeneralPurpose {
    let (alphabet, padded) = match name {
        "rawstd" => (&STANDARD, false),
        "url" => (&URL_SAFE, true),
        "rawurl" => (&URL_SAFE, false),
        _ => (&STANDARD, true),
    };
    let padding = if padded { DecodePaddingMode::RequireCanonical } else { DecodePaddingMode::RequireNone };
    let config = GeneralPurposeConfig::new()
        .with_encode_padding(padded)
        .with_decode_padding_mode(padding)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(alphabet, config)
}

fn encode<'js>(ctx: Ctx<'js>, data: Opt<Value<'js>>, name: Opt<Value<'js>>) -> Result<String> {
    let data = data.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    let content = bytes::required(&ctx, &data, "")?;
    Ok(variant(&text(name)).encode(content))
}

fn decode<'js>(
    ctx: Ctx<'js>,
    data: Opt<Value<'js>>,
    name: Opt<Value<'js>>,
    format: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    let data = data.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    let mut coded = bytes::required(&ctx, &data, "")?;
    coded.retain(|byte| !matches!(byte, b'\r' | b'\n'));
    let content = variant(&text(name)).decode(&coded).map_err(|error| {
        let at = match error {
            DecodeError::InvalidByte(at, _) => at,
            // A group of four that is incomplete or badly padded is reported by its begin.
            _ => coded.len() / 4 * 4,
        };
        go_error(&ctx, &format!("illegal base64 data at input byte {at}"))
    })?;
    if text(format) == "s" {
        return String::from_utf8_lossy(&content).into_js(&ctx);
    }
    Ok(ArrayBuffer::new(ctx, content)?.into_value())
}

fn text(value: Opt<Value<'_>>) -> String {
    value.0.and_then(|value| value.get::<String>().ok()).unwrap_or_default()
}
