//! httpyac as an oracle: a file of requests, and what is imported of it, send the same requests.

use crate::compare::{Compared, assert_same, compared};
use crate::echo::{Arrived, Echo};
use crate::newman::ORACLES;
use crate::walk;
use serde_json::json;
use std::path::Path;
use std::process::Command;
use torr_test_support::program::Running;

/// Files of requests as people write them, each with the number of its requests and the password in it.
const FILES: [(&str, usize, &str); 3] = [
    (include_str!("httpyac/shop.http"), 31, "word"),
    (include_str!("httpyac/corners.http"), 23, "p%40ss"),
    (include_str!("httpyac/imports.http"), 7, "none"),
];

/// Files that one of these imports.
const IMPORTED: [(&str, &str); 2] = [
    ("lib/common.http", include_str!("httpyac/lib/common.http")),
    ("lib/more.http", include_str!("httpyac/lib/more.http")),
];

/// Fields that httpyac adds to every request.
const OWN: &[&str] = &["accept-encoding"];

/// Bytes that are no text.
const BYTES: &[u8] = b"\x89PNG\r\n\x1a\n\0\xff\xfe{{name}}";

/// Returns the response to which the file's requests refer.
fn shop(request: &Arrived) -> Option<Vec<u8>> {
    let content = r#"{"token": "t-1", "id": 7, "user": {"name": "carl"}, "items": [{"id": "i1"}, {"id": "i2"}]}"#;
    let content = if request.method == "HEAD" { "" } else { content };
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Trace: tr-9\r\nSet-Cookie: visit=1";
    Some(format!("{head}\r\nContent-Length: {}\r\n\r\n{content}", content.len()).into_bytes())
}

/// Returns a request in which one sign stands for each digit of a value that is new each time.
fn shaped(mut request: Compared) -> Compared {
    let digit = |next: char| if next.is_ascii_hexdigit() { '0' } else { next };
    for (name, value) in &mut request.fields {
        match name.as_str() {
            "x-date" | "x-number" => *value = value.chars().map(digit).collect(),
            "x-id" => {
                let ids: Vec<&str> = value.split(' ').collect();
                assert!(ids.len() == 2 && ids[0] == ids[1], "the variable has one value: {value}");
                *value = value.chars().map(digit).collect();
            }
            "x-lazy" => {
                let (before, id) = value.split_once('/').unwrap_or((value, ""));
                *value = format!("{before}/{}", id.chars().map(digit).collect::<String>());
            }
            _ => {}
        }
    }
    request
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    std::fs::write(folder.join(name), content).expect("there is room");
}

#[test]
#[ignore = "httpyac is installed by ./test full"]
fn what_is_imported_sends_what_httpyac_sends() {
    let oracles = std::env::var(ORACLES).expect("./test full sets it");
    let echo = Echo::responding(shop);
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    let host = echo.origin.trim_start_matches("http://");
    let dev = json!({"base": echo.origin, "host": host, "who": "public", "n": 5, "version": "v1", "yes": true,
        "object": {"a": "within", "list": [1, "two"]}, "with-hyphen": "hyphen", "url": "{{base}}/environment"});
    write(folder, "http-client.env.json", json!({"dev": dev, "prod": {"base": "none"}}).to_string());
    write(folder, "http-client.private.env.json", json!({"dev": {"who": "will"}}).to_string());
    write(folder, ".env", "DOT=dotted\nexport QUOTED=\"quo ted\"\n# none\nHASH=a # none\n");
    write(folder, "part.txt", "hello {{name}} ü\nline\n");
    write(folder, "part.bin", BYTES);
    write(folder, "query.graphql", "query Q($a: Int) {\n  x(a: $a)\n}\n");
    std::fs::create_dir(folder.join("lib")).expect("there is room");
    IMPORTED.iter().for_each(|(name, text)| write(folder, name, text));
    // As Windows ends lines, and with the mark that its editors put before them.
    let windows = |text: &str| format!("\u{feff}{}", text.replace('\n', "\r\n"));
    let files =
        FILES.iter().flat_map(|(text, count, word)| [(text.to_string(), count, word), (windows(text), count, word)]);
    for (text, count, word) in files {
        write(folder, "shop.http", text);
        let mut httpyac = Command::new(Path::new(&oracles).join("node_modules/.bin/httpyac"));
        httpyac.args(["send", "shop.http", "--all", "--env", "dev", "--output", "none"]).current_dir(folder);
        let ended = Running::start(httpyac).wait();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let expected: Vec<_> = compared(echo.take(), OWN).into_iter().map(shaped).collect();
        assert_eq!(expected.len(), *count, "{expected:?}");
        let imported = walk::import(folder, &["http", "shop.http", "--env", "dev"]);
        assert_eq!(imported.code, Some(0), "{imported:?}");
        let secrets = [("who", "will"), ("DOT", "dotted"), ("QUOTED", "quo ted"), ("HASH", "a"), ("password", *word)];
        let sent: Vec<_> = walk::once(folder, &echo, &secrets, OWN).into_iter().map(shaped).collect();
        assert_same(&sent, &expected);
    }
}
