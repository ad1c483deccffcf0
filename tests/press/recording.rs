//! Recordings of GoReplay.

use std::fmt::Write as _;
use tempfile::TempDir;

/// The flags of a replay that sends all requests of a recording, and writes its result to standard output.
pub const REPLAYED: &[&str] =
    &["--methods", "GET,POST,PUT", "--host", "shop.example", "-t", "1", "-c", "1", "--json", "-"];

/// A recording in a folder of its own.
pub struct Recording {
    _folder: TempDir,
    path: String,
}

impl Recording {
    /// Writes requests to `shop.example`, each a method, a path and a body, 10 ms one after the other.
    pub fn new(requests: &[(&str, &str, &str)]) -> Self {
        let mut text = String::new();
        for (number, (method, path, body)) in requests.iter().enumerate() {
            let fields = format!("Host: shop.example\r\nContent-Type: text/x-test\r\nContent-Length: {}", body.len());
            let _ = writeln!(text, "1 a{number} {}", 1_764_410_400_000_000_000_u64 + number as u64 * 10_000_000);
            let _ = writeln!(text, "{method} {path} HTTP/1.1\r\n{fields}\r\n\r\n{body}\n\u{1f435}\u{1f648}\u{1f649}");
        }
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let file = folder.path().join("requests_0.gor");
        std::fs::write(&file, text).expect("a file can be written");
        let path = file.to_str().expect("temporary folders have plain names").to_owned();
        Self { _folder: folder, path }
    }

    pub fn path(&self) -> &str {
        &self.path
    }
}
