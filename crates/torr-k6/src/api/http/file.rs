//! `http.file`: contents of files, and the multipart bodies that carry them.

use super::form;
use crate::api::bytes;
use crate::host::{self, Host, HostClass};
use rquickjs::function::{Opt, This};
use rquickjs::object::Accessor;
use rquickjs::{Class, Coerced, Ctx, Exception, FromJs, Object, Result, Value};
use std::time::{SystemTime, UNIX_EPOCH};

/// The content of a file with its name and type.
#[derive(Debug, Clone)]
pub struct FileData {
    name: String,
    content_type: String,
    data: Vec<u8>,
}

impl HostClass for FileData {
    const NAME: &'static str = "FileData";

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        type File<'js> = This<Class<'js, Host<FileData>>>;
        let prototype = Object::new(ctx.clone())?;
        prototype.prop("filename", Accessor::new_get(|this: File<'js>| this.borrow().name.clone()).enumerable())?;
        let content_type = Accessor::new_get(|this: File<'js>| this.borrow().content_type.clone());
        prototype.prop("content_type", content_type.enumerable())?;
        let data = Accessor::new_get(|ctx: Ctx<'js>, this: File<'js>| {
            rquickjs::ArrayBuffer::new_copy(ctx, &this.borrow().data)
        });
        prototype.prop("data", data.enumerable())?;
        Ok(prototype)
    }
}

/// The function `http.file`.
pub fn file<'js>(
    ctx: Ctx<'js>,
    data: Value<'js>,
    name: Opt<Value<'js>>,
    content_type: Opt<Value<'js>>,
) -> Result<Class<'js, Host<FileData>>> {
    let text = |given: Option<Value<'js>>| match given {
        Some(given) if !given.is_undefined() && !given.is_null() => {
            Coerced::<String>::from_js(&ctx, given).map(|it| Some(it.0))
        }
        _ => Ok(None),
    };
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos()).to_string();
    let name = text(name.0)?.filter(|name| !name.is_empty()).unwrap_or_else(clock);
    let content_type = text(content_type.0)?.filter(|it| !it.is_empty());
    let content_type = content_type.unwrap_or_else(|| "application/octet-stream".to_owned());
    let data = match bytes::of(&data)? {
        Some(data) => data,
        None => return Err(Exception::throw_type(&ctx, "http.file needs a string or an ArrayBuffer")),
    };
    Class::instance(ctx, Host(FileData { name, content_type, data }))
}

/// Returns the multipart body of an object that has a file among its values, with its content type; `None` if it has none.
pub fn multipart(object: &Object<'_>) -> Result<Option<(Vec<u8>, String)>> {
    let mut has_file = false;
    for value in object.props::<String, Value<'_>>() {
        has_file |= file_of(&value?.1).is_some();
    }
    if !has_file {
        return Ok(None);
    }
    let boundary: String = std::iter::repeat_with(|| fastrand::char('a'..='z')).take(60).collect();
    let mut body = Vec::new();
    for property in object.props::<String, Value<'_>>() {
        let (name, value) = property?;
        let items = match value.as_array() {
            Some(items) => host::items(items)?.collect::<Result<Vec<_>>>()?,
            None => vec![value],
        };
        for value in items {
            body.extend_from_slice(
                format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(&name)).as_bytes(),
            );
            match file_of(&value) {
                Some(file) => {
                    let file = file.borrow();
                    let line =
                        format!("; filename=\"{}\"\r\nContent-Type: {}\r\n\r\n", quoted(&file.name), file.content_type);
                    body.extend_from_slice(line.as_bytes());
                    body.extend_from_slice(&file.data);
                }
                None => {
                    body.extend_from_slice(b"\r\n\r\n");
                    body.extend_from_slice(form::notation(&value)?.as_bytes());
                }
            }
            body.extend_from_slice(b"\r\n");
        }
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok(Some((body, format!("multipart/form-data; boundary={boundary}"))))
}

fn file_of<'js>(value: &Value<'js>) -> Option<Class<'js, Host<FileData>>> {
    Class::<Host<FileData>>::from_value(value).ok()
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\r', '\n'], " ")
}
