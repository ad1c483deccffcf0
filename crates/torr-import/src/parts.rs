//! Parts of hurl files that every import writes.

use crate::draft::LeftOut;
use crate::node::Node;
use torr_session::hurl::Position;
use torr_session::hurl::ast::{
    Assert, Capture, Entry, EntryOption, Expression, Filter, KeyValue, MultipartPart, Number, OptionName, OptionValue,
    Piece, Predicate, Query, Request, Response, Source, Template, Value,
};

/// The place of everything that an import writes: a hurl file that is written has no other.
pub(crate) const NOWHERE: Position = Position { line: 1, column: 1 };

/// Returns a name and a value.
pub(crate) fn pair(name: &str, value: Template) -> KeyValue {
    KeyValue { name: name.into(), value, at: NOWHERE }
}

/// Returns an option of an entry.
pub(crate) fn option(name: OptionName, value: OptionValue) -> EntryOption {
    EntryOption { name, value, at: NOWHERE }
}

/// Returns the expression that stands for a variable.
pub(crate) fn variable(name: &str) -> Expression {
    Expression { source: Source::Variable(name.to_owned()), filters: Vec::new(), at: NOWHERE }
}

/// Returns the name of a new variable, made from the name of what it stands for: with a number where the name is taken.
pub(crate) fn variable_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let base: String = name.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    let base = match base.trim_matches('_') {
        "" => "value",
        base => base,
    };
    let numbered = (2..).map(|number| format!("{base}_{number}"));
    std::iter::once(base.to_owned()).chain(numbered).find(|name| !is_taken(name)).unwrap_or_default()
}

/// Whether text is an object or a list of JSON.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok_and(|json| json.is_object() || json.is_array())
}

/// Returns an entry whose response passes whatever comes.
pub(crate) fn entry(name: &str, request: Request) -> Entry {
    let name = crate::line::one_line(name);
    Entry { name: Some(name).filter(|name| !name.is_empty()), request, response: None }
}

/// Returns the expectations of an entry, none at first.
pub(crate) fn response(entry: &mut Entry) -> &mut Response {
    entry.response.get_or_insert_with(|| Response {
        version: None,
        status: None,
        headers: Vec::new(),
        captures: Vec::new(),
        asserts: Vec::new(),
        body: None,
        at: NOWHERE,
    })
}

/// Returns a condition on a response.
pub(crate) fn assert(query: Query, filters: Vec<Filter>, not: bool, predicate: Predicate) -> Assert {
    Assert { query, filters, not, predicate, at: NOWHERE }
}

/// Returns a capture of a response.
pub(crate) fn capture(name: &str, query: Query) -> Capture {
    Capture { name: name.into(), query, filters: Vec::new(), redact: false, at: NOWHERE }
}

/// Returns an integer to compare with.
pub(crate) fn integer(value: i64) -> Value {
    Value::Number(Number::Integer(value))
}

/// Returns the asserts of a status code between two bounds.
pub(crate) fn status_between(from: i64, below: i64) -> [Assert; 2] {
    [
        assert(Query::Status, Vec::new(), false, Predicate::GreaterOrEqual(integer(from))),
        assert(Query::Status, Vec::new(), false, Predicate::Less(integer(below))),
    ]
}

/// Whether a request has a field.
pub(crate) fn has_field(request: &Request, name: &str) -> bool {
    request.headers.iter().any(|field| field.name.literal().is_some_and(|field| field.eq_ignore_ascii_case(name)))
}

/// Removes a field that the content brings by itself.
pub(crate) fn drop_field(request: &mut Request, name: &str) {
    request.headers.retain(|field| field.name.literal().is_none_or(|field| !field.eq_ignore_ascii_case(name)));
}

/// Removes fields and parameters without a name, which programs write for empty rows of their tables.
pub(crate) fn drop_nameless(request: &mut Request) {
    let has_name = |pair: &KeyValue| !pair.name.0.is_empty();
    for pairs in [&mut request.headers, &mut request.query, &mut request.form, &mut request.cookies] {
        pairs.retain(has_name);
    }
    request.multipart.retain(|part| match part {
        MultipartPart::Field(field) => has_name(field),
        MultipartPart::File { name, file, .. } => !name.0.is_empty() && !file.0.is_empty(),
    });
}

/// Returns a file's name relative to the hurl file, which may only name files beside it and below: elsewhere its last part, and
/// what to say about it.
pub(crate) fn beside(path: &str) -> (&str, Option<LeftOut>) {
    let is_outside = path.starts_with(['/', '\\', '~'])
        || path.split(['/', '\\']).any(|part| part == "..")
        || path.as_bytes().get(1) == Some(&b':');
    if !is_outside {
        return (path, None);
    }
    let name = path.rsplit(['/', '\\']).find(|part| !part.is_empty() && *part != "..").unwrap_or("file");
    (name, Some(LeftOut::new("folder of a file", path, "put the file next to the hurl file")))
}

/// Returns the name of a file that is read before the run, so that no variable can be part of it: then what stands behind the
/// variables, and what to say about it.
pub(crate) fn plain_name(name: Template, shown: &str) -> (Template, Option<LeftOut>) {
    if name.literal().is_some() {
        return (name, None);
    }
    let last = if let Some(Piece::Text(text)) = name.0.last() { text.rsplit(['/', '\\']).next() } else { None };
    let last = last.filter(|last| !last.is_empty()).unwrap_or("file");
    let reason = "variables are not supported in file names, as files are read before the run";
    (last.into(), Some(LeftOut::new("name of a file", shown, reason)))
}

/// Returns a template's text, with a letter for each placeholder, since a variable's value is not known.
pub(crate) fn filled(template: &Template) -> String {
    template.0.iter().map(filled_piece).collect()
}

/// Returns a piece as [`filled`] has it.
pub(crate) fn filled_piece(piece: &Piece) -> &str {
    if let Piece::Text(text) = piece { text } else { "x" }
}

/// Returns the position of the user and password of a URL, whose scheme may be missing, and both as they stand there.
pub(crate) fn user_of(url: &str) -> Option<(usize, &str)> {
    let scheme = url.find("://").filter(|at| !url[..*at].contains(['/', '?', '#']));
    let start = scheme.map_or(0, |at| at + 3);
    let authority = &url[start..];
    let authority = &authority[..authority.find(['/', '?', '#']).unwrap_or(authority.len())];
    Some((start, authority.rsplit_once('@')?.0))
}

/// Returns a method as a request line of a hurl file has it: letters only, GET where there is none.
pub(crate) fn method(name: &str) -> String {
    let name: String = name.chars().filter(char::is_ascii_alphabetic).collect();
    let name = name.to_ascii_uppercase();
    // A line that begins with HTTP is a status line.
    if name.is_empty() || name == "HTTP" { "GET".to_owned() } else { name }
}

/// Returns a method as a hurl file has it, and says where that is not the one of the source: methods are case-sensitive.
pub(crate) fn sent_method(name: &str, say: &mut dyn FnMut(&str, &str)) -> String {
    let made = method(name);
    if made != name {
        let shown = if name.is_empty() { "an empty method" } else { name };
        say(&format!("method {shown}"), &format!("hurl methods must be in capital letters: {made} is sent"));
    }
    made
}

/// Whether text is a name of a field (RFC 9110, section 5.6.2).
pub(crate) fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Adds a piece, text to the text before it.
pub(crate) fn push(pieces: &mut Vec<Piece>, piece: Piece) {
    match (pieces.last_mut(), piece) {
        (_, Piece::Text(text)) if text.is_empty() => {}
        (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(&text),
        (_, piece) => pieces.push(piece),
    }
}

/// Returns a piece of text as it stands within a string of JSON.
pub(crate) fn within_json(piece: Piece) -> Piece {
    match piece {
        Piece::Text(text) => {
            let quoted = Node::Text(text).to_json();
            Piece::Text(quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned())
        }
        placeholder => placeholder,
    }
}

/// Returns the media type that Postman and Bruno give to a file by its extension.
pub(crate) fn media_type_of_file(name: &str) -> Option<&'static str> {
    Some(match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
        "txt" => "text/plain",
        "json" => "application/json",
        "xml" => "application/xml",
        "html" | "htm" => "text/html",
        "csv" => "text/csv",
        "css" => "text/css",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "svg" => "image/svg+xml",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        _ => return None,
    })
}

/// Returns the media type that programs of JavaScript give to a file of a form by its extension.
pub(crate) fn sent_media_type(name: &str) -> &'static str {
    let own = || match name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).as_deref() {
        Some("js") => "application/javascript",
        Some("md") => "text/markdown",
        Some("yml" | "yaml") => "text/yaml",
        Some("webp") => "image/webp",
        Some("gz") => "application/gzip",
        Some("mp4") => "video/mp4",
        Some("mp3") => "audio/mpeg",
        Some("xlsx") => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        Some("docx") => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        _ => "application/octet-stream",
    };
    media_type_of_file(name).unwrap_or_else(own)
}

/// Returns a request of nothing, until there is one.
pub(crate) fn nothing() -> Request {
    Request::new("GET", Template::default(), NOWHERE)
}

/// Returns a template of several, in which neighbouring texts are one piece.
pub(crate) fn joined(templates: impl IntoIterator<Item = Template>) -> Template {
    let mut pieces = Vec::new();
    templates.into_iter().flat_map(|template| template.0).for_each(|piece| push(&mut pieces, piece));
    Template(pieces)
}

/// Returns the option of a name and a password.
fn user_option(user: Template, password: Template) -> EntryOption {
    option(OptionName::User, OptionValue::Text(joined([user, ":".into(), password])))
}

/// Adds a name and a password of basic authentication. A section of a hurl file has no user without a name.
pub(crate) fn add_basic(request: &mut Request, user: Template, password: Template) {
    if user.0.is_empty() {
        request.options.push(user_option(user, password));
    } else {
        request.basic_auth = Some(KeyValue { name: user, value: password, at: NOWHERE });
    }
}

/// Returns the options of digest authentication.
pub(crate) fn digest_options(user: Template, password: Template) -> [EntryOption; 2] {
    [option(OptionName::Digest, OptionValue::Boolean(true)), user_option(user, password)]
}

/// Returns the options of a signature of AWS: what it is for, as far as that is known, and the key with its secret. As in curl, a region
/// and a service that are missing are in the host.
pub(crate) fn aws_options(region_and_service: Vec<Template>, key: Template, secret: Template) -> [EntryOption; 2] {
    let behind = region_and_service.into_iter().flat_map(|part| [":".into(), part]);
    let scope = joined(std::iter::once("aws:amz".into()).chain(behind));
    [option(OptionName::AwsSigV4, OptionValue::Text(scope)), user_option(key, secret)]
}
