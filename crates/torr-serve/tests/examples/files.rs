//! `examples/files.rs`.

use crate::program::{ClientResponse, Example};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A copy of the example's site, a larger file, and packed forms of some, which no decoder has to understand.
fn site() -> TempDir {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/site");
    let write =
        |path: &str, content: &[u8]| fs::write(folder.path().join(path), content).expect("a file can be written");
    fs::create_dir(folder.path().join("assets")).expect("a folder can be made");
    for path in ["index.html", "assets/hello.js"] {
        write(path, &fs::read(source.join(path)).expect("the example has it"));
    }
    write("assets/hello.js.br", b"packed by brotli");
    write("assets/hello.js.gz", b"packed by gzip");
    write("assets/large.txt", &large());
    folder
}

fn large() -> Vec<u8> {
    (0..100_000u32).flat_map(u32::to_le_bytes).collect()
}

struct Site {
    example: Example,
    _folder: TempDir,
}

impl Site {
    fn start() -> Self {
        let folder = site();
        let example = Example::start("files", &[folder.path().to_str().expect("its path is text")]);
        Self { example, _folder: folder }
    }

    fn get(&self, path: &str, fields: &[(&str, &str)]) -> ClientResponse {
        self.example.ask(&format!("GET {path}"), fields)
    }
}

#[test]
fn files_are_sent_whole_in_part_or_not_again() {
    let site = Site::start();
    let path = "/assets/large.txt";
    let whole = site.get(path, &[]);
    assert!(whole.status == 200 && whole.body == large(), "{} with {} bytes", whole.status, whole.body.len());
    assert_eq!(whole.field("Content-Type"), Some("text/plain"));
    assert_eq!(whole.field("Accept-Ranges"), Some("bytes"));
    assert_eq!(whole.field("Cache-Control"), Some("public, max-age=86400"));
    let head = site.example.ask(&format!("HEAD {path}"), &[]);
    assert_eq!((head.status, head.field("Content-Length"), head.body.len()), (200, Some("400000"), 0));

    let ranges = [
        ("bytes=0-3", "bytes 0-3/400000", 0..4),
        ("bytes=100000-299999", "bytes 100000-299999/400000", 100_000..300_000),
        ("bytes=399990-", "bytes 399990-399999/400000", 399_990..400_000),
        ("bytes=-5", "bytes 399995-399999/400000", 399_995..400_000),
    ];
    for (range_field, shown, range) in ranges {
        let part = site.get(path, &[("Range", range_field)]);
        assert_eq!((part.status, part.field("Content-Range")), (206, Some(shown)));
        assert!(part.body == large()[range], "{range_field}: {} bytes", part.body.len());
    }
    let beyond = site.get(path, &[("Range", "bytes=400000-")]);
    assert_eq!((beyond.status, beyond.field("Content-Range")), (416, Some("bytes */400000")));

    let changed = whole.field("Last-Modified").expect("it says when it was changed");
    let again = site.get(path, &[("If-Modified-Since", changed)]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    let before = "Sun, 06 Nov 1994 08:49:37 GMT";
    assert_eq!(site.get(path, &[("If-Modified-Since", before)]).status, 200);
    assert_eq!(site.get(path, &[("If-Unmodified-Since", before)]).status, 412);
    site.example.leaves();
}

#[test]
fn ready_compressed_files_go_to_those_who_understand_them() {
    let site = Site::start();
    let path = "/assets/hello.js";
    let plain = site.get(path, &[]);
    assert!(plain.text().contains("location.pathname"), "{plain:?}");
    for (accepted, coding, body) in [
        ("gzip", Some("gzip"), "packed by gzip"),
        ("gzip, br", Some("br"), "packed by brotli"),
        ("br;q=0.1, gzip", Some("gzip"), "packed by gzip"),
        ("zstd", None, plain.text()),
    ] {
        let response = site.get(path, &[("Accept-Encoding", accepted)]);
        assert_eq!(
            (response.status_and_text(), response.field("Content-Encoding")),
            ((200, body), coding),
            "of {accepted}"
        );
        assert_eq!(response.field("Content-Type"), Some("text/javascript"));
        // A cache must not give one client what was packed for another.
        assert_eq!(response.field("Vary").map(str::to_lowercase).as_deref(), Some("accept-encoding"));
    }
    // Of this one there is no packed form.
    let response = site.get("/assets/large.txt", &[("Accept-Encoding", "gzip, br")]);
    assert_eq!((response.field("Content-Encoding"), response.body.len()), (None, 400_000));
    site.example.leaves();
}

#[test]
fn other_paths_are_pages_and_nothing_outside_is_shown() {
    let site = Site::start();
    let index = site.get("/", &[]);
    assert_eq!((index.status, index.field("Cache-Control")), (200, Some("no-cache")));
    assert!(index.text().starts_with("<!doctype html>"), "{index:?}");
    for path in ["/any/page", "/index.html", "/a.b/c?d"] {
        let page = site.get(path, &[]);
        assert_eq!(page.status_and_text(), index.status_and_text(), "{path}");
        assert_eq!(page.field("Content-Type"), Some("text/html"));
    }
    // A script that is missing is no page.
    assert_eq!(site.get("/assets/missing.js", &[]).status, 404);
    assert_eq!(site.get("/api/missing", &[]).status_and_text(), (404, "the API has no such path\n"));
    assert_eq!(site.example.send("POST /assets/hello.js", &[], "changed").status, 405);
    for path in [
        "/assets/../../../../../../../../etc/passwd",
        "/assets/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/assets/..%2f..%2fetc/passwd",
    ] {
        let mut client = site.example.client();
        let response = client.get(path);
        assert_eq!((response.status, response.text()), (404, ""), "{path}");
    }
    site.example.leaves();
}
