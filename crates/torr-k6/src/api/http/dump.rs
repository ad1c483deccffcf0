//! Requests and responses as `httpDebug` shows them, with secrets masked.

use crate::http_settings::Shown;
use crate::log::Level;
use crate::user::Vu;
use crate::user::exchange::{Incoming, Outcome};
use torr_gauge::Secrets;
use torr_press::request::sent_secrets;

/// The most bytes of content that are shown.
const MOST: usize = 16 * 1024;

/// Writes a request and its response into the log, if the options say so.
pub fn show(vu: &Vu, outcome: &Outcome) {
    let Some(shown) = vu.run.http_settings().shown else { return };
    let log = |text: String| vu.run.log.write(Level::Info, &text, &[("source", "http-debug")]);
    // A server may send back what it received.
    let secrets = Secrets::new(sent_secrets(&outcome.request));
    log(secrets.mask(format!("Request:\n{}", request(&outcome.request, shown))));
    if let Ok(incoming) = &outcome.result {
        log(secrets.mask(format!("Response:\n{}", response(incoming, shown))));
    }
}

fn request(bytes: &[u8], shown: Shown) -> String {
    let end = memchr::memmem::find(bytes, b"\r\n\r\n").map_or(bytes.len(), |end| end + 4);
    let (head, content) = bytes.split_at(end);
    with_content(String::from_utf8_lossy(head).into_owned(), content, shown)
}

fn response(incoming: &Incoming, shown: Shown) -> String {
    let version = if incoming.version == "2" { "HTTP/2.0" } else { "HTTP/1.1" };
    let mut head = format!("{version} {} {}\r\n", incoming.status, incoming.reason());
    for (name, value) in incoming.fields() {
        head += &format!("{}: {}\r\n", String::from_utf8_lossy(name), String::from_utf8_lossy(value));
    }
    with_content(head + "\r\n", &incoming.content, shown)
}

fn with_content(head: String, content: &[u8], shown: Shown) -> String {
    if shown == Shown::Fields || content.is_empty() {
        return head;
    }
    match std::str::from_utf8(&content[..content.len().min(MOST)]) {
        Ok(text) if content.len() <= MOST => head + text,
        Ok(text) => format!("{head}{text}\n... of {} bytes", content.len()),
        Err(_) => format!("{head}({} bytes)", content.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_shown_on_request_and_to_a_limit() {
        let sent = b"POST / HTTP/1.1\r\nHost: a\r\n\r\nx=1";
        assert_eq!(request(sent, Shown::Fields), "POST / HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(request(sent, Shown::All), "POST / HTTP/1.1\r\nHost: a\r\n\r\nx=1");
        let incoming = Incoming {
            status: 404,
            version: "1.1",
            other_reason: None,
            names_and_values: b"Serverx".to_vec(),
            ends: vec![(6, 7)],
            content: vec![b'y'; MOST + 1],
        };
        let text = response(&incoming, Shown::All);
        assert!(text.starts_with("HTTP/1.1 404 Not Found\r\nServer: x\r\n\r\nyyy"), "{}", &text[..60]);
        assert!(text.ends_with("... of 16385 bytes"));
        let binary = Incoming { content: vec![0xff, 0xfe], ..incoming };
        assert!(response(&binary, Shown::All).ends_with("(2 bytes)"));
    }
}
