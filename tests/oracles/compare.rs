//! Requests in one form, so that those of two programs can be compared.

use crate::echo::Arrived;

/// What of a request is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    pub line: String,
    /// Names in lower case, and values, sorted.
    pub fields: Vec<(String, String)>,
    pub content: String,
}

/// Fields of the connection and of framing, which each program has of its own.
const OWN: &[&str] = &["host", "connection", "content-length", "transfer-encoding", "expect", "keep-alive"];

/// Checks that two programs have sent the same requests.
pub fn assert_same(sent: &[Compared], expected: &[Compared]) {
    let different: Vec<_> = sent.iter().zip(expected).filter(|(sent, expected)| sent != expected).collect();
    assert!(different.is_empty(), "sent, and expected: {different:#?}");
    assert_eq!(sent.len(), expected.len(), "sent {sent:#?} instead of {expected:#?}");
}

/// Returns requests without what names the program that sent them: `own` are further fields that it adds to every request.
pub fn compared(arrived: Vec<Arrived>, own: &[&str]) -> Vec<Compared> {
    arrived.into_iter().map(|arrived| one(arrived, own)).collect()
}

fn one(arrived: Arrived, own: &[&str]) -> Compared {
    let mut content = String::from_utf8_lossy(&arrived.content).into_owned();
    let is_tool = |value: &str| {
        let tools = [
            "curl/",
            "torr/",
            "PostmanRuntime/",
            "bruno-runtime/",
            "insomnia/",
            "axios/",
            "Apache-HttpClient/",
            "httpyac",
            "Artillery ",
        ];
        tools.iter().any(|tool| value.starts_with(tool))
    };
    let mut fields = Vec::new();
    for (name, value) in arrived.fields {
        let name = name.to_ascii_lowercase();
        if OWN.contains(&name.as_str()) || own.contains(&name.as_str()) || (name == "user-agent" && is_tool(&value)) {
            continue;
        }
        let value = match name.as_str() {
            "accept-encoding" => {
                let mut codings: Vec<_> = value.split(',').map(str::trim).collect();
                codings.sort_unstable();
                codings.join(",")
            }
            // Releases of curl differ in the space between the cookies of two flags.
            "cookie" => value.split(';').map(str::trim).collect::<Vec<_>>().join("; "),
            "content-type" => without_boundary(&value, &mut content),
            _ => value,
        };
        fields.push((name, value));
    }
    // Files of one part have a boundary of their own.
    while let Some(at) = content.find("multipart/mixed; boundary=-") {
        let end = content[at..].find("\r\n").map_or(content.len(), |length| at + length);
        let field = content[at..end].to_owned();
        without_boundary(&field, &mut content);
    }
    fields.sort();
    Compared { line: format!("{} {}", arrived.method, in_capitals(&arrived.target)), fields, content }
}

/// Returns a media type with a boundary that all programs share, which replaces that of the content.
fn without_boundary(media_type: &str, content: &mut String) -> String {
    let Some((kind, boundary)) = media_type.split_once("boundary=") else { return media_type.to_owned() };
    *content = content.replace(boundary.trim_matches('"'), "BOUNDARY");
    format!("{kind}boundary=BOUNDARY")
}

/// Returns a target whose percent-encoded bytes are written in capital letters, which is the same target.
fn in_capitals(target: &str) -> String {
    let mut pieces = target.split('%');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        out.push('%');
        match piece.get(..2).filter(|digits| digits.chars().all(|digit| digit.is_ascii_hexdigit())) {
            Some(digits) => {
                out.push_str(&digits.to_ascii_uppercase());
                out.push_str(&piece[2..]);
            }
            None => out.push_str(piece),
        }
    }
    out
}
