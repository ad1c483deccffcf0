//! The profile static.

use crate::application::Application;
use crate::curl::{Got, curl, get};
use crate::data::{FILES, bytes, is_binary};

/// Returns whether a media type is one that the contest takes for a file.
fn is_right(name: &str, media_type: &str) -> bool {
    match name.rsplit_once('.').expect("all files have one").1 {
        "css" => media_type == "text/css",
        "js" => ["application/javascript", "text/javascript"].contains(&media_type),
        "json" => media_type == "application/json",
        _ => !media_type.is_empty(),
    }
}

/// Checks the response with a file.
#[track_caller]
pub fn is_file(got: &Got, name: &str, size: usize) {
    assert_eq!(got.status, 200, "{name}");
    assert!(is_right(name, got.media_type()), "{name}: {}", got.media_type());
    assert!(got.decoded() == bytes(name, size), "{name} is not the file");
}

/// Checks all files as they are, precompressed as the load asks for them, and one that is missing.
pub fn check() {
    let application = Application::start_with_files();
    for (name, size) in FILES {
        let url = application.http(&format!("/static/{name}"));
        let got = get(&url);
        is_file(&got, name, size);
        assert_eq!((got.field("content-encoding"), got.content.len()), (None, size), "{name}");
        let got = curl(&["-H", "Accept-Encoding: br;q=1, gzip;q=0.8"], &url);
        is_file(&got, name, size);
        assert_eq!(got.field("content-encoding"), (!is_binary(name)).then_some("br"), "{name}");
        let got = curl(&["-H", "Accept-Encoding: gzip"], &url);
        is_file(&got, name, size);
        assert_eq!(got.field("content-encoding"), (!is_binary(name)).then_some("gzip"), "{name}");
    }
    for missing in ["/static/missing.txt", "/static/../dataset.json", "/static/%2e%2e/dataset.json"] {
        assert_eq!(curl(&["--path-as-is"], &application.http(missing)).status, 404, "{missing}");
    }
    // The rules of the class: a file is read for each request.
    let name = FILES[0].0;
    std::fs::write(application.files().join(name), "changed").expect("a file can be written");
    assert_eq!(get(&application.http(&format!("/static/{name}"))).content, b"changed");
}
