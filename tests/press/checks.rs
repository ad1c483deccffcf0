//! What is expected of responses, redirects, and compressed bodies.

use serde_json::Value;
use std::io::Write;
use torr_test_support::certificates::self_signed;
use torr_test_support::program::{Ended, torr, torr_json};
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{Client, Script};
use torr_test_support::servers::{Nginx, Serve};

/// Runs with `--json -`, whatever the exit code.
fn run(args: &[&str]) -> (Ended, Value) {
    let ended = torr(&[&["--json", "-"], args].concat());
    let result = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    (ended, result)
}

/// Responds by path.
fn site() -> Script {
    Script::start(|client: &mut Client| {
        let mut turn = 0;
        while let Some(request) = client.request() {
            turn += 1;
            let text = String::from_utf8_lossy(&request).into_owned();
            let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
            let response = |status: &str, fields: &str, body: &str| {
                format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
            };
            let found = |location: &[u8]| {
                [b"HTTP/1.1 302 Found\r\nLocation: ", location, b"\r\nContent-Length: 0\r\n\r\n"].concat()
            };
            let response = match path.as_str() {
                "/odd" if turn % 2 == 0 => response("200 OK", "X-Turn: even\r\n", "even"),
                "/odd" => response("201 Created", "X-Turn: odd\r\n", "odd"),
                "/here" => response("302 Found", "Location: /there?x=1\r\n", "moved"),
                "/there?x=1" => response("301 Moved Permanently", "Location: end\r\nConnection: close\r\n", ""),
                "/end" => response("200 OK", "", &format!("the end of {}", text.split(' ').next().unwrap_or_default())),
                "/round" => response("307 Temporary Redirect", "Location: /round\r\n", ""),
                "/loop/a" => found(b"b"),
                "/loop/b" => found(b"../loop/a"),
                "/away" => found(b"http://elsewhere.test/"),
                "/secure" => found(b"https://127.0.0.1/"),
                "/port" => found(b"//127.0.0.1:1/"),
                "/nowhere" => response("301 Moved Permanently", "", "moved"),
                "/mail" => found(b"mailto:somebody@elsewhere.test"),
                "/space" => found(b"/sent on?a b"),
                "/umlaut" => found(b"/sent\xc3\xa4?\xe4#\xe4"),
                "/query" => found(b"/sent?next=http://elsewhere.test/"),
                sent if sent.starts_with("/sent") => response("200 OK", "", sent),
                "/echo" => response("308 Permanent Redirect", "Location: /echoed\r\n", ""),
                "/echoed" => response("200 OK", "", text.rsplit("\r\n\r\n").next().unwrap_or_default()),
                _ => response("200 OK", "", "ok"),
            };
            client.send(&response);
            if path == "/there?x=1" {
                return;
            }
        }
    })
}

fn passed_and_failed(result: &Value) -> Vec<(String, u64, u64)> {
    let checks = result["checks"].as_array().cloned().unwrap_or_default();
    let of =
        |check: &Value| (check["name"].as_str().unwrap().to_owned(), count(check, "/passed"), count(check, "/failed"));
    checks.iter().map(of).collect()
}

#[test]
fn each_check_is_counted_and_a_failed_one_fails_the_run() {
    let site = site();
    let url = format!("{}odd", site.url());
    let load = ["-n", "100", "-c", "1", "-t", "1", url.as_str()];
    let (ended, result) = run(&[&["--expect-status", "2xx", "--expect-header", "X-Turn"], &load[..]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(passed_and_failed(&result), [("status 2xx".into(), 100, 0), ("header X-Turn".into(), 100, 0)]);
    let expect = [
        "--expect-status",
        "200",
        "--expect-header",
        "X-Turn: odd",
        "--expect-body",
        "even",
        "--expect-body",
        "~^(odd|even)$",
    ];
    let (ended, result) = run(&[&expect[..], &load].concat());
    adds_up(&result);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let expected = [
        ("status 200".into(), 50, 50),
        ("header X-Turn: odd".into(), 50, 50),
        ("body even".into(), 50, 50),
        ("body ~^(odd|even)$".into(), 100, 0),
    ];
    assert_eq!(passed_and_failed(&result), expected);
    for named in ["status 200", "X-Turn: odd", "body even"] {
        assert!(ended.stderr.contains(named), "{named} is not named: {}", ended.stderr);
    }
    assert!(!ended.stderr.contains("odd|even"), "{}", ended.stderr);
}

#[test]
fn checks_apply_to_responses_over_http_2_too() {
    let server =
        Nginx::start_with("http2", "location / { add_header X-A b; return 200 'hello'; } location /no { return 404; }");
    let load = ["-n", "60", "-c", "2", "--http2-prior-knowledge", "--streams", "5"];
    let expect = ["--expect-status", "200", "--expect-header", "X-A: b", "--expect-body", "~^hello$"];
    let url = server.url();
    let (ended, result) = run(&[&load[..], &expect, &[&url]].concat());
    adds_up(&result);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(passed_and_failed(&result).iter().all(|(_, passed, failed)| (*passed, *failed) == (60, 0)), "{result}");
    let url = format!("{url}no");
    let (ended, result) = run(&[&load[..], &expect, &[&url]].concat());
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(passed_and_failed(&result).iter().all(|(_, passed, failed)| (*passed, *failed) == (0, 60)), "{result}");
}

#[test]
fn a_whole_body_is_compared_to_the_byte() {
    let site = site();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"ok").unwrap();
    let expected = format!("@{}", file.path().display());
    let load = ["-n", "20", "-c", "2", "--expect-body", &expected];
    let same = format!("{}same", site.url());
    assert_eq!(run(&[&load[..], &[&same]].concat()).0.code, Some(0));
    let other = format!("{}odd", site.url());
    assert_eq!(run(&[&load[..], &[&other]].concat()).0.code, Some(1));
}

#[test]
fn redirects_are_counted_and_followed_only_with_the_flag() {
    let site = site();
    let url = format!("{}here", site.url());
    let plain = torr_json(&["-n", "20", "-c", "2", &url]);
    assert_eq!((count(&plain, "/status/302"), plain.get("redirects_followed")), (20, None), "{plain}");
    for keep in [&[][..], &["--no-keepalive"]] {
        let load = ["-n", "20", "-c", "2", "--follow", "--expect-body", "the end of GET", &url];
        let (ended, result) = run(&[keep, &load].concat());
        adds_up(&result);
        assert_eq!(ended.code, Some(0), "{keep:?}: {ended:?}");
        assert_eq!(
            (count(&result, "/status/200"), count(&result, "/redirects_followed")),
            (20, 40),
            "{keep:?}: {result}"
        );
        assert_eq!(count(&result, "/errors/read"), 0, "{keep:?}: {result}");
    }
}

#[test]
fn a_redirect_that_needs_another_connection_needs_one_over_tls_too() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = self_signed(folder.path());
    let site = "location /here { return 302 /end; } location /end { return 200 'the end'; }";
    let server = Nginx::start_tls(&certificate, &key, site);
    let url = format!("{}here", server.https());
    for (keep, connections) in [(&["--no-keepalive"][..], 40), (&[], 2)] {
        let load = ["-n", "20", "-c", "2", "--insecure", "--follow", "--expect-body", "the end", &url];
        let (ended, result) = run(&[keep, &load].concat());
        adds_up(&result);
        assert_eq!((ended.code, count(&result, "/redirects_followed")), (Some(0), 20), "{keep:?}: {ended:?}");
        assert_eq!(count(&result, "/tls/full") + count(&result, "/tls/resumed"), connections, "{keep:?}: {result}");
    }
}

#[test]
fn a_redirect_whose_body_ends_with_the_connection_is_followed() {
    let server = Script::start(|client: &mut Client| {
        while let Some(request) = client.request() {
            if request.starts_with(b"GET /end ") {
                client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend");
            } else {
                return client.send(b"HTTP/1.0 302 Found\r\nLocation: /end\r\n\r\nmoved");
            }
        }
    });
    let (ended, result) = run(&["-n", "10", "-c", "1", "--follow", "--expect-body", "end", &server.url()]);
    adds_up(&result);
    assert_eq!((ended.code, count(&result, "/redirects_followed")), (Some(0), 10), "{ended:?}");
}

#[test]
fn redirects_keep_a_body_where_they_should_and_end_where_they_must() {
    let site = site();
    let of = |path: &str, more: &[&str]| {
        let url = format!("{}{path}", site.url());
        run(&[&["-n", "5", "-c", "1", "--follow"], more, &[&url]].concat())
    };
    let (ended, result) = of("echo", &["--data", "a=b", "--expect-body", "~^a=b$"]);
    assert_eq!((ended.code, count(&result, "/status/200")), (Some(0), 5), "{ended:?}");
    let (ended, result) = of("here", &["--data", "a=b", "--expect-body", "the end of GET"]);
    assert_eq!((ended.code, count(&result, "/status/200")), (Some(0), 5), "{ended:?}");
}

#[test]
fn a_redirect_that_is_not_followed_is_an_error_with_its_reason() {
    let site = site();
    let of = |path: &str, more: &[&str]| {
        let url = format!("{}{path}", site.url());
        run(&[&["-n", "5", "-c", "1", "--follow"], more, &[&url]].concat())
    };
    for (path, reason, followed) in [
        ("round", "more than 10 redirects in a row", 50),
        ("away", "redirect to another host: http://elsewhere.test", 0),
        ("secure", "redirect to another scheme: https://127.0.0.1", 0),
        ("port", "redirect to another port: http://127.0.0.1:1", 0),
        ("nowhere", "redirect without a Location field", 0),
        ("mail", "redirect to a Location that is not an http:// or https:// URL", 0),
        ("loop/a", "more than 10 redirects in a row", 50),
    ] {
        for keep in [&[][..], &["--no-keepalive"]] {
            let (ended, result) = of(path, keep);
            adds_up(&result);
            assert_eq!(ended.code, Some(1), "{path}: {ended:?}");
            assert_eq!(ended.stderr.lines().count(), 1, "{path}: {ended:?}");
            let line = format!("torr: 5 redirects were not followed: 5 x {reason}");
            assert!(ended.stderr.starts_with(&line), "{path}: {ended:?}");
            assert_eq!(
                ["/requests", "/errors/redirect"].map(|field| count(&result, field)),
                [5, 5],
                "{path}: {result}"
            );
            let counted = result.get("redirects_followed").and_then(Value::as_u64).unwrap_or(0);
            assert_eq!(counted, followed, "{path}: {result}");
            assert_eq!(result["causes"][0]["what"], reason, "{path}: {result}");
            assert_eq!(result["error_times"][0]["kind"], "redirect", "{path}: {result}");
        }
    }
    // The response still counts: its status, and checks of it.
    let (ended, result) = of("away", &["--expect-status", "302", "--fail-if", "redirects>4"]);
    assert_eq!((ended.code, count(&result, "/status/302")), (Some(1), 5), "{ended:?}");
    assert_eq!(passed_and_failed(&result), [("status 302".into(), 5, 0)]);
    assert!(ended.stderr.contains("threshold failed: redirects>4: measured 5"), "{ended:?}");
    let (junit, _) = of("away", &["--junit", "/dev/stderr"]);
    let case = "name=\"redirects followed\"";
    assert!(
        junit.stderr.contains(case) && junit.stderr.contains("<failure message=\"5 redirects were not"),
        "{junit:?}"
    );
    let text = torr(&["-n", "5", "-c", "1", "--follow", &format!("{}away", site.url())]);
    assert!(text.stdout.contains("redirect 5   100% of 5 requests"), "{text:?}");
}

#[test]
fn a_part_of_the_redirects_that_is_not_followed_is_counted() {
    let site = site();
    let mut list = tempfile::NamedTempFile::new().unwrap();
    write!(list, "{0}here\n{0}away\n{0}secure\n{0}same\n", site.url()).unwrap();
    let path = list.path().to_str().unwrap();
    let (ended, result) = run(&["-n", "40", "-c", "1", "-t", "1", "-L", "--urls", path, "--order", "sequence"]);
    adds_up(&result);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let counts = ["/requests", "/errors/redirect", "/redirects_followed", "/status/200", "/status/302"];
    assert_eq!(counts.map(|field| count(&result, field)), [40, 20, 20, 20, 20], "{result}");
    for reason in
        ["10 x redirect to another host: http://elsewhere.test", "10 x redirect to another scheme: https://127.0.0.1"]
    {
        assert!(ended.stderr.contains(reason), "{ended:?}");
    }
}

#[test]
fn a_location_with_spaces_and_bytes_beyond_ascii_is_followed() {
    let site = site();
    for (path, lands) in
        [("space", "/sent%20on?a%20b"), ("umlaut", "/sent%C3%A4?%E4"), ("query", "/sent?next=http://elsewhere.test/")]
    {
        let url = format!("{}{path}", site.url());
        let (ended, result) = run(&["-n", "5", "-c", "1", "--follow", "--expect-body", lands, &url]);
        adds_up(&result);
        assert_eq!((ended.code, count(&result, "/redirects_followed")), (Some(0), 5), "{path}: {ended:?}");
    }
}

#[test]
fn a_compressed_body_is_decoded_to_be_checked() {
    let server = Serve::start(&["--workers", "1"]);
    let load = ["-n", "50", "-c", "2", "--compressed", "--expect-header", "Content-Encoding: gzip"];
    let url = server.url("/gzip");
    let plain = torr_json(&[&load[..], &["--expect-body", "Hello", &url]].concat());
    assert_eq!(passed_and_failed(&plain)[1], ("body Hello".into(), 50, 0), "{plain}");
    // What is counted is what was on the wire.
    let wire = torr_json(&["-n", "50", "-c", "2", &url]);
    assert_eq!(count(&plain, "/bytes/body"), count(&wire, "/bytes/body"), "{plain}");
}

#[test]
fn mistakes_in_checks_are_one_line() {
    for (args, word) in [
        (&["--expect-status", "ok"][..], "2xx"),
        (&["--expect-header", ": x"], "Name: value"),
        (&["--expect-body", "~("], "regular expression"),
        (&["--expect-body", "@/no/such/file"], "/no/such/file"),
        (&["--follow", "--pipeline", "2"], "--pipeline"),
        (&["--follow", "--http2-prior-knowledge"], "needs HTTP/1.1"),
    ] {
        let ended = torr(&[args, &["http://127.0.0.1:1"]].concat());
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert!(ended.stderr.lines().count() == 1 && ended.stderr.contains(word), "{args:?}: {}", ended.stderr);
    }
}
