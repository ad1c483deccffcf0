//! The profile upload.

use crate::application::Application;
use crate::curl::curl;
use std::fs;

/// Checks small content, and the four sizes of the load, of which curl announces the larger ones by `Expect`.
pub fn check() {
    let application = Application::start();
    let url = application.http("/upload");
    assert_eq!(curl(&["--data-binary", "seventeen bytes.."], &url).text(), "17");
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let path = folder.path().join("content");
    for size in [48, 512_000, 2 << 20, 10 << 20, 20 << 20] {
        let mut content = vec![0; size];
        fastrand::fill(&mut content);
        fs::write(&path, content).expect("a file can be written");
        let data = format!("@{}", path.display());
        let got = curl(&["--data-binary", &data, "-H", "Content-Type: application/octet-stream"], &url);
        assert_eq!(got.text(), size.to_string());
        let waited = got.header.starts_with("HTTP/1.1 100 ");
        assert_eq!(waited, size > 1 << 20, "curl announces only content above 1 MiB: {}", got.header);
        let chunked = curl(&["--data-binary", &data, "-H", "Transfer-Encoding: chunked"], &url);
        assert_eq!(chunked.text(), size.to_string(), "counted, not copied from Content-Length");
    }
}
