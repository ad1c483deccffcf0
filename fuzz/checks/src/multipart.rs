//! Multipart forms of the load side (RFC 7578): a second implementation reads what was put in.
//!
//! Option: the lowest bit reads contents as text, whose placeholders are filled. Each piece is a part: a line with its name, one
//! with its file name, one with its media type, then its content. An empty line is one that is not there.

use crate::input::Input;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::stream;
use multer::Multipart;
use std::convert::Infallible;
use torr_press::request::{Body, Content, Options, Part};
use torr_press::{Requests, Target};

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let input = Input::binary(bytes);
    // A form's boundary is random.
    fastrand::seed(u64::from(input.option));
    let as_text = input.option & 1 == 1;
    let parts: Vec<Part> = input.pieces().iter().filter_map(|piece| part(piece.bytes, as_text)).collect();
    let target = Target::parse("http://a.test/").expect("it is a URL");
    let options = Options { body: Some(Body::Multipart(parts.clone())), ..Options::default() };
    let Ok(requests) = Requests::new(&[target.into()], &options) else { return };
    let mut request = Vec::new();
    requests.cursor(0, 1).write(&mut request);
    let (boundary, body) = split(&request);
    // The second implementation knows no form without parts.
    if parts.is_empty() {
        assert_eq!(body, format!("--{boundary}--\r\n").as_bytes());
        return;
    }
    let chunks = input_chunks(body);
    let read = read(Multipart::new(stream::iter(chunks), boundary));
    let read = read
        .now_or_never()
        .expect("all of it is there")
        .unwrap_or_else(|error| panic!("a form that cannot be read: {error}: {}", body.escape_ascii()));
    assert_eq!(read.len(), parts.len(), "{}", body.escape_ascii());
    for (got, part) in read.iter().zip(&parts) {
        assert_eq!(got.name, Some(quoted(&part.name)));
        assert_eq!(got.file_name, part.file_name.as_deref().map(quoted));
        match &part.content {
            Content::File(bytes) => assert_eq!(got.content, bytes),
            Content::Text(text) if text.contains("{{") => {}
            Content::Text(text) => assert_eq!(got.content, text),
        }
    }
}

/// A part, if its lines can stand in one.
fn part(bytes: &[u8], as_text: bool) -> Option<Part> {
    let mut lines = bytes.splitn(4, |&byte| byte == b'\n');
    let mut line = || String::from_utf8(lines.next().unwrap_or_default().to_vec()).ok();
    let (name, file_name, media_type) = (line()?, line()?, line()?);
    let content = lines.next().unwrap_or_default();
    // A name ends up in a field, which has no other control characters, and readers disagree about backslashes.
    let is_plain = |text: &str| !text.contains(|c: char| (c.is_control() && !"\r\n".contains(c)) || c == '\\');
    if name.is_empty() || !is_plain(&name) || !is_plain(&file_name) {
        return None;
    }
    let content = match as_text {
        true => Content::Text(String::from_utf8(content.to_vec()).ok()?),
        false => Content::File(content.to_vec()),
    };
    let given = |text: String| (!text.is_empty()).then_some(text);
    Some(Part { name, content, file_name: given(file_name), media_type: given(media_type) })
}

/// The boundary and the body of a request, whose length its head tells.
fn split(request: &[u8]) -> (String, &[u8]) {
    let end = memchr::memmem::find(request, b"\r\n\r\n").expect("a head has an end");
    let (head, body) = (std::str::from_utf8(&request[..end]).expect("a head is text"), &request[end + 4..]);
    let field = |name: &str| {
        let line =
            head.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("no {name} in {head}"));
        line.trim().to_owned()
    };
    assert_eq!(field("Content-Length:"), body.len().to_string(), "the length that is told");
    let media_type = field("Content-Type:");
    let boundary = media_type.strip_prefix("multipart/form-data; boundary=").expect("it is a form");
    (boundary.to_owned(), body)
}

fn input_chunks(body: &[u8]) -> Vec<Result<Bytes, Infallible>> {
    body.chunks(1000).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect()
}

/// A part that was read.
struct Read {
    name: Option<String>,
    file_name: Option<String>,
    content: Bytes,
}

async fn read(mut form: Multipart<'_>) -> Result<Vec<Read>, multer::Error> {
    let mut parts = Vec::new();
    while let Some(field) = form.next_field().await? {
        let (name, file_name) = (field.name().map(str::to_owned), field.file_name().map(str::to_owned));
        parts.push(Read { name, file_name, content: field.bytes().await? });
    }
    Ok(parts)
}

/// A name within quotes, as browsers write it.
fn quoted(name: &str) -> String {
    let quoted = name.chars().map(|c| match c {
        '"' => "%22".to_owned(),
        '\r' => "%0D".to_owned(),
        '\n' => "%0A".to_owned(),
        other => other.to_string(),
    });
    quoted.collect()
}
