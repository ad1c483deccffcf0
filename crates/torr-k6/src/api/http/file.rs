//! `http.file`: contents of files, and the multipart bodies that carry them.

use super::form;
use crate::api::bytes;
use crate::host::{Host, HostClass, go_error};
use rquickjs::function::Opt;
use rquickjs::{Class, Coerced, Ctx, FromJs, Object, Result, Value};
use std::time::{SystemTime, UNIX_EPOCH};

/// The class of files: contents with a name and a type, which are properties of the objects.
#[derive(Debug)]
pub struct FileData;

impl HostClass for FileData {
    const NAME: &'static str = "FileData";

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        Object::new(ctx.clone())
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
    if bytes::of(&data)?.is_none() {
        return Err(go_error(&ctx, "invalid type of data for http.file(), expected string or ArrayBuffer"));
    }
    let file = Class::instance(ctx, Host(FileData))?;
    file.set("data", data)?;
    file.set("filename", name)?;
    file.set("content_type", content_type)?;
    Ok(file)
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
    let boundary: String = std::iter::repeat_with(|| fastrand::digit(16)).take(60).collect();
    let mut body = Vec::new();
    for property in object.props::<String, Value<'_>>() {
        let (name, value) = property?;
        body.extend_from_slice(
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(&name)).as_bytes(),
        );
        match file_of(&value) {
            Some(file) => {
                let (name, content_type): (Coerced<String>, Coerced<String>) =
                    (file.get("filename")?, file.get("content_type")?);
                let line = format!("; filename=\"{}\"\r\nContent-Type: {}\r\n\r\n", quoted(&name.0), content_type.0);
                body.extend_from_slice(line.as_bytes());
                body.extend_from_slice(&bytes::required(object.ctx(), &file.get("data")?, "")?);
            }
            None => {
                body.extend_from_slice(b"\r\n\r\n");
                body.extend_from_slice(form::notation(&value)?.as_bytes());
            }
        }
        body.extend_from_slice(b"\r\n");
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
