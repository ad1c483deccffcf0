//! `TextEncoder` and `TextDecoder`.

use std::cell::RefCell;

use encoding_rs::{Decoder, DecoderResult, Encoding};
use rquickjs::function::Constructor;
use rquickjs::object::Accessor;
use rquickjs::prelude::{Func, Opt, This};
use rquickjs::{Class, Ctx, Exception, Object, Result, TypedArray, Value};

use super::super::bytes;
use crate::host::{Host, HostClass};

struct TextEncoder;

impl HostClass for TextEncoder {
    const NAME: &'static str = "TextEncoder";

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let prototype = Object::new(ctx.clone())?;
        prototype.set("encoding", "utf-8")?;
        prototype.set("encode", Func::from(encode))?;
        Ok(prototype)
    }
}

/// Returns the class `TextEncoder`.
pub(super) fn encoder_class<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let make = |ctx: Ctx<'js>| Class::instance(ctx, Host(TextEncoder));
    let class = Constructor::new_class::<Host<TextEncoder>, _, _>(ctx.clone(), make)?;
    Ok(class.into_inner().into_inner())
}

fn encode<'js>(ctx: Ctx<'js>, text: Opt<Value<'js>>) -> Result<TypedArray<'js, u8>> {
    let content = match text.0 {
        Some(value) if !value.is_undefined() => {
            let text = value.get::<rquickjs::Coerced<rquickjs::String<'js>>>()?.0;
            bytes::of(text.as_value())?.unwrap_or_default()
        }
        _ => Vec::new(),
    };
    TypedArray::new(ctx, content)
}

struct TextDecoder {
    encoding: &'static Encoding,
    fatal: bool,
    keep_mark: bool,
    /// The decoder of a text that comes in pieces.
    running: RefCell<Option<Decoder>>,
}

impl HostClass for TextDecoder {
    const NAME: &'static str = "TextDecoder";

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        type It<'js> = This<Class<'js, Host<TextDecoder>>>;
        let prototype = Object::new(ctx.clone())?;
        let name = |this: It<'js>| this.0.borrow().encoding.name().to_ascii_lowercase();
        prototype.prop("encoding", Accessor::from(name).configurable().enumerable())?;
        let fatal = |this: It<'js>| this.0.borrow().fatal;
        prototype.prop("fatal", Accessor::from(fatal).configurable().enumerable())?;
        let keep_mark = |this: It<'js>| this.0.borrow().keep_mark;
        prototype.prop("ignoreBOM", Accessor::from(keep_mark).configurable().enumerable())?;
        prototype.set("decode", Func::from(decode))?;
        Ok(prototype)
    }
}

/// Returns the class `TextDecoder`.
pub(super) fn decoder_class<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let make = |ctx: Ctx<'js>, label: Opt<Value<'js>>, options: Opt<Object<'js>>| {
        let label = match label.0 {
            Some(label) if !label.is_undefined() => label.get::<rquickjs::Coerced<String>>()?.0,
            _ => "utf-8".to_owned(),
        };
        let Some(encoding) = Encoding::for_label(label.as_bytes()) else {
            return Err(Exception::throw_range(&ctx, &format!("unknown encoding '{label}'")));
        };
        let flag = |name: &str| -> Result<bool> {
            match &options.0 {
                Some(options) => Ok(options.get::<_, Option<bool>>(name)?.unwrap_or_default()),
                None => Ok(false),
            }
        };
        let decoder =
            TextDecoder { encoding, fatal: flag("fatal")?, keep_mark: flag("ignoreBOM")?, running: RefCell::new(None) };
        Class::instance(ctx.clone(), Host(decoder))
    };
    let class = Constructor::new_class::<Host<TextDecoder>, _, _>(ctx.clone(), make)?;
    Ok(class.into_inner().into_inner())
}

fn decode<'js>(
    ctx: Ctx<'js>,
    this: This<Class<'js, Host<TextDecoder>>>,
    data: Opt<Value<'js>>,
    options: Opt<Object<'js>>,
) -> Result<String> {
    let content = match data.0 {
        Some(value) if !value.is_undefined() => match value.as_object().map(bytes::of_buffer).transpose()?.flatten() {
            Some(content) => content,
            None => return Err(Exception::throw_type(&ctx, "decode() needs an ArrayBuffer or a view of one")),
        },
        _ => Vec::new(),
    };
    let stream = match options.0 {
        Some(options) => options.get::<_, Option<bool>>("stream")?.unwrap_or_default(),
        None => false,
    };
    let own = this.0.borrow();
    let mut decoder = own.running.borrow_mut().take().unwrap_or_else(|| {
        if own.keep_mark {
            own.encoding.new_decoder_without_bom_handling()
        } else {
            own.encoding.new_decoder_with_bom_removal()
        }
    });
    let invalid = || Exception::throw_type(&ctx, "the data is not valid in this encoding");
    let mut text = String::new();
    if own.fatal {
        let room = decoder.max_utf8_buffer_length_without_replacement(content.len()).ok_or_else(invalid)?;
        text.reserve(room);
        let (result, _) = decoder.decode_to_string_without_replacement(&content, &mut text, !stream);
        if !matches!(result, DecoderResult::InputEmpty) {
            return Err(invalid());
        }
    } else {
        text.reserve(decoder.max_utf8_buffer_length(content.len()).ok_or_else(invalid)?);
        let _ = decoder.decode_to_string(&content, &mut text, !stream);
    }
    if stream {
        *own.running.borrow_mut() = Some(decoder);
    }
    Ok(text)
}
