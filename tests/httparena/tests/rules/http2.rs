//! The profiles of HTTP/2.

use crate::application::Application;
use crate::curl::{Got, curl, get};
use crate::data::FILES;
use crate::files::is_file;
use crate::json::is_page;

fn tls(url: &str) -> Got {
    curl(&["--http2"], url)
}

fn clear(url: &str) -> Got {
    curl(&["--http2-prior-knowledge"], url)
}

/// Checks sums over TLS.
pub fn baseline_tls() {
    let application = Application::start();
    sums(tls, |path| application.h2(path));
}

/// Checks sums without TLS, and that HTTP/1.1 is refused.
pub fn baseline_clear() {
    let application = Application::start();
    sums(clear, |path| application.h2c(path));
    refuses_http1(&application, "/baseline2?a=1&b=1");
}

fn sums(send: fn(&str) -> Got, url: impl Fn(&str) -> String) {
    let [a, b] = [(); 2].map(|()| fastrand::u32(1..1_000_000));
    for (a, b) in [(13, 42), (1, 1), (a, b)] {
        let got = send(&url(&format!("/baseline2?a={a}&b={b}")));
        assert_eq!((&*got.version, got.text()), ("2", &*(a + b).to_string()), "{a} + {b}");
    }
    assert_eq!(send(&url("/baseline2?a=x")).status, 400);
}

/// Checks the pairs of the load, and that HTTP/1.1 is refused.
pub fn json() {
    let application = Application::start();
    for (count, factor) in [(1, 3), (5, 7), (10, 2), (15, 5), (25, 4), (40, 8), (50, 6)] {
        let got = clear(&application.h2c(&format!("/json/{count}?m={factor}")));
        assert_eq!(got.version, "2");
        is_page(&got, count, factor);
    }
    refuses_http1(&application, "/json/5?m=1");
}

fn refuses_http1(application: &Application, path: &str) {
    for version in ["--http1.1", "--http1.0", "--http2"] {
        // With `--http2` curl offers an upgrade of HTTP/1.1.
        let got = curl(&[version], &application.h2c(path));
        assert!((400..500).contains(&got.status) && got.version.starts_with("1."), "{got:?}");
    }
    assert!(get(&application.h2c("/missing")).status >= 400);
}

/// Checks all files over TLS, with the field of the load.
pub fn files() {
    let application = Application::start_with_files();
    for (name, size) in FILES {
        let url = application.h2(&format!("/static/{name}"));
        let got = curl(&["--http2", "-H", "Accept-Encoding: br;q=1, gzip;q=0.8"], &url);
        assert_eq!(got.version, "2");
        is_file(&got, name, size);
    }
    assert_eq!(tls(&application.h2("/static/missing.txt")).status, 404);
}
