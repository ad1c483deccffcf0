//! `torr serve --root`, with nginx as its oracle.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;
use torr_test_support::program::torr;
use torr_test_support::servers::{Nginx, Serve};

/// The second of the file's time of modification.
const MODIFIED: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

fn site() -> TempDir {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    // nginx's workers are another user's.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.path(), open).expect("it is ours");
    fs::create_dir(folder.path().join("docs")).expect("a folder can be made");
    let then = SystemTime::UNIX_EPOCH + Duration::new(784_111_777, 500_000_000);
    for (name, content) in [
        ("index.html", "<p>home</p>".to_owned()),
        ("docs/index.html", "<p>docs</p>".to_owned()),
        ("a b.txt", "a name with a space".to_owned()),
        ("app.js", "plain script ".repeat(40)),
        ("app.js.gz", "by gzip".to_owned()),
        ("large.txt", "0123456789abcdef".repeat(100_000)),
        ("empty.txt", String::new()),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("a file can be written");
        fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(then)).expect("it is ours");
    }
    folder
}

/// What curl gets: the status, the fields that both servers know, and the content.
fn seen(address: &str, path: &str, args: &[&str]) -> (String, BTreeMap<String, String>, Vec<u8>) {
    let url = format!("http://{address}{path}");
    let out = Command::new("curl").args(["-sS", "--path-as-is", "-D", "/dev/stderr"]).args(args).arg(&url).output();
    let out = out.expect("curl is installed");
    let head = String::from_utf8_lossy(&out.stderr).into_owned();
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or_else(|| panic!("{url}: {head}"));
    let known = ["content-length", "content-range", "content-encoding", "last-modified", "location"];
    let fields = lines.filter_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let name = name.to_ascii_lowercase();
        known.contains(&&*name).then(|| (name, value.to_owned()))
    });
    (status.to_owned(), fields.collect(), out.stdout)
}

#[test]
fn files_are_sent_as_nginx_sends_them() {
    let folder = site();
    let root = folder.path().display();
    let nginx = Nginx::start(&format!(
        "root {root}; gzip_static on; if_modified_since before; absolute_redirect off; max_ranges 1;"
    ));
    let ours = Serve::start(&["--workers", "1", "--root", &root.to_string()]);
    let before = "If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT";
    let (same, after) = (format!("If-Modified-Since: {MODIFIED}"), "If-Modified-Since: Mon, 07 Nov 1994 08:49:37 GMT");
    let (unmodified, earlier) =
        (format!("If-Unmodified-Since: {MODIFIED}"), "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT");
    let (if_range, other_range) = (format!("If-Range: {MODIFIED}"), "If-Range: Mon, 07 Nov 1994 08:49:37 GMT");
    let cases: &[(&str, &[&str])] = &[
        ("/", &[]),
        ("/index.html?a=b", &[]),
        ("/docs/", &[]),
        ("/docs?a=b", &[]),
        ("/a%20b.txt", &[]),
        ("/none.txt", &[]),
        ("/empty.txt", &[]),
        ("/large.txt", &[]),
        ("/large.txt", &["--head", "-o", "/dev/null"]),
        ("/app.js", &["-H", "Accept-Encoding: gzip"]),
        ("/app.js", &["-H", "Accept-Encoding: gzip;q=0"]),
        ("/app.js", &["-H", "Accept-Encoding: br"]),
        ("/large.txt", &["-r", "0-0"]),
        ("/large.txt", &["-r", "1599999-"]),
        ("/large.txt", &["-r", "-17"]),
        ("/large.txt", &["-r", "100000-1000000"]),
        ("/large.txt", &["-r", "5-4"]),
        ("/large.txt", &["-H", "Range: bytes=1600000-"]),
        ("/large.txt", &["-H", before]),
        ("/large.txt", &["-H", &same]),
        ("/large.txt", &["-H", after]),
        ("/large.txt", &["-H", "If-Modified-Since: yesterday"]),
        ("/large.txt", &["-H", &unmodified]),
        ("/large.txt", &["-H", earlier]),
        ("/large.txt", &["-H", "If-None-Match: \"other\""]),
        ("/large.txt", &["-H", "If-None-Match: *"]),
        ("/large.txt", &["-H", "If-Match: \"other\""]),
        ("/large.txt", &["-r", "0-9", "-H", &if_range]),
        ("/large.txt", &["-r", "0-9", "-H", other_range]),
    ];
    let address = &ours.address;
    // nginx has no ranges of ready-compressed forms.
    let of_gzip = seen(address, "/app.js", &["-H", "Accept-Encoding: gzip", "-r", "3-"]);
    assert_eq!((&*of_gzip.0, &*of_gzip.2), ("206", &b"gzip"[..]));
    for (path, args) in cases {
        let (expected, found) = (seen(&nginx.address, path, args), seen(address, path, args));
        // The pages of redirects and errors are each server's own, and so are their lengths.
        if ["200", "206"].contains(&&*expected.0) {
            assert_eq!(found.1, expected.1, "{path} {args:?}");
            assert!(found.2 == expected.2, "{path} {args:?}");
        }
        let status = match &*expected.0 {
            // A range that is none is as good as no range (RFC 9110, section 14.2).
            "416" if args.contains(&"5-4") => "200",
            status => status,
        };
        assert_eq!(found.0, status, "{path} {args:?}");
        assert_eq!(found.1.get("location"), expected.1.get("location"), "{path}");
    }
}

#[test]
fn a_root_that_cannot_be_served_is_one_line() {
    let folder = site();
    let none = folder.path().join("none").display().to_string();
    let missing = torr(&["serve", "--listen", "127.0.0.1:0", "--root", &none]);
    assert_eq!(missing.code, Some(2));
    assert_eq!(
        missing.stderr,
        format!("torr: cannot serve the files below {none}: No such file or directory (os error 2)\n")
    );
    let root = Path::new(&none).with_file_name("docs").display().to_string();
    for (flag, value, key) in [("--router", "true", "router"), ("--cache-ttl", "5s", "cache_ttl")] {
        let both = torr(&["serve", "--root", &root, flag, value]);
        let line = format!("torr: root serves files, without the demo application: drop {key}\n");
        assert_eq!((both.code, both.stderr), (Some(2), line));
    }
}
