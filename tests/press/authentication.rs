//! Credentials that depend on what servers send: challenges of digest authentication, and tokens that end.

use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use torr_test_support::program::{Running, torr, torr_command, torr_json};
use torr_test_support::script::{Client, OK, Script};

fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// Returns a parameter of a field in quotes, or without.
fn parameter<'v>(value: &'v str, name: &str) -> Option<&'v str> {
    let rest = value.split_once(&format!("{name}="))?.1;
    Some(match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => rest.split(',').next().unwrap_or_default(),
    })
}

/// Challenges each request that has no valid nonce: each nonce is good for so many requests. A connection ends behind a challenge
/// if `closes`.
fn challenging(uses: usize, closes: bool) -> impl Fn(&mut Client) + Send + Sync + 'static {
    let (issued, used) = (AtomicUsize::new(0), Mutex::new(vec![0_usize]));
    move |client| {
        while let Some(request) = client.request() {
            let text = String::from_utf8_lossy(&request).into_owned();
            let nonce = field(&text, "Authorization").and_then(|value| parameter(value, "nonce"));
            let known = nonce.and_then(|nonce| nonce.strip_prefix('n')?.parse::<usize>().ok());
            let mut used = used.lock().expect("nobody panics with it");
            let is_good = known.is_some_and(|nonce| {
                used[nonce] += 1;
                used[nonce] <= uses
            });
            if is_good {
                client.send(OK);
                continue;
            }
            used.push(0);
            let nonce = issued.fetch_add(1, Ordering::SeqCst) + 1;
            let stale = if known.is_some() { ", stale=true" } else { "" };
            let end = if closes { "Connection: close\r\n" } else { "" };
            let challenge = format!(
                "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n{end}WWW-Authenticate: Basic realm=\"x\"\r\n\
                 WWW-Authenticate: Digest realm=\"a \\\"b\\\"\", nonce=\"n{nonce}\", qop=\"auth,auth-int\", opaque=\"o\", \
                 algorithm=SHA-256{stale}\r\n\r\nno"
            );
            drop(used);
            client.send(challenge.as_bytes());
            if closes {
                return;
            }
        }
    }
}

/// Returns a request with what each client makes up itself replaced.
fn likened(text: &str) -> String {
    let mut likened = text.to_owned();
    if let Some(value) = field(text, "Authorization") {
        for name in ["cnonce", "response"] {
            let own = parameter(value, name).unwrap_or_else(|| panic!("{text}"));
            likened = likened.replace(own, name);
        }
    }
    for name in ["User-Agent", "Host"] {
        likened = likened.replace(field(text, name).unwrap_or_default(), name);
    }
    let mut lines: Vec<_> = likened.lines().map(str::to_owned).collect();
    let head = lines.iter().position(String::is_empty).unwrap_or(lines.len());
    lines[1..head].sort();
    lines.join("\n")
}

#[test]
fn digest_authentication_is_that_of_curl() {
    let large = tempfile::NamedTempFile::new().expect("there is room for temporary files");
    large.as_file().write_all(&vec![b'x'; 200_000]).expect("a file can be written");
    let large = format!("@{}", large.path().display());
    let cases: &[&[&str]] = &[
        &[],
        &["-X", "DELETE"],
        &["-H", "X-Own: 1", "--data", "a=1"],
        &["-X", "PUT", "--data-binary", "x", "-H", "Content-Type: text/plain"],
        &["--data-binary", &large, "-H", "Expect:", "-H", "Content-Type: application/octet-stream"],
    ];
    let digest = ["--digest", "-u", "ann \"x\":s3:cret"];
    for args in cases {
        for closes in [false, true] {
            let of = |run: &dyn Fn(&str)| {
                let server = Script::start(challenging(usize::MAX, closes));
                run(&format!("{}dir/file?a=1&b=2", server.url()));
                server.texts().iter().map(|text| likened(text)).collect::<Vec<_>>().join("\n---\n")
            };
            let by_curl = of(&|url| {
                let ran = Command::new("curl").args(["-sS", "-m", "20"]).args(digest).args(*args).arg(url).output();
                assert!(ran.expect("curl is installed").status.success(), "{args:?}");
            });
            let by_torr = of(&|url| {
                let result = torr_json(&[&digest[..], args, &["-n", "1", "-c", "1", url]].concat());
                assert_eq!((&result["requests"], &result["status"]["200"]), (&1.into(), &1.into()), "{args:?}");
                assert!(!result.to_string().contains("s3:cret"), "{result}");
            });
            let (head, start) = (|text: &str| text.chars().take(2000).collect::<String>(), by_torr.find("---"));
            assert!(start.is_some() && by_torr == by_curl, "{args:?}: {}\n\n{}", head(&by_torr), head(&by_curl));
        }
    }
}

#[test]
fn nonces_are_counted_and_replaced_when_they_are_stale() {
    let server = Script::start(challenging(10, false));
    let result = torr_json(&["--digest", "-u", "ann:x", "-n", "200", "-c", "4", "-t", "2", &server.url()]);
    assert_eq!((&result["requests"], &result["status"]["200"]), (&200.into(), &200.into()), "{}", result["status"]);
    let texts = server.texts();
    let challenged = texts.iter().filter(|text| field(text, "Authorization").is_none()).count();
    assert_eq!(challenged, 4, "each connection is challenged once");
    let last = texts.iter().filter_map(|text| parameter(field(text, "Authorization")?, "nc")).max();
    assert_eq!(last, Some("0000000b"), "the eleventh use is the one that is stale");
}

#[test]
fn a_server_that_does_not_challenge_gets_the_content() {
    let server = Script::start(torr_test_support::script::answering(OK));
    let result = torr_json(&["--digest", "-u", "ann:x", "--data", "a=1", "-n", "2", "-c", "1", &server.url()]);
    assert_eq!((&result["requests"], &result["status"]["200"]), (&2.into(), &2.into()), "{}", result["status"]);
    let contents: Vec<_> =
        server.texts().iter().filter_map(|text| Some(text.split_once("\r\n\r\n")?.1.to_owned())).collect();
    assert_eq!(contents, ["", "a=1", "a=1"]);
}

#[test]
fn a_field_of_the_users_own_replaces_credentials() {
    let server = Script::start(challenging(1, false));
    let url = server.url();
    let result = torr_json(&["--digest", "-u", "ann:x", "-H", "Authorization: mine", "-n", "1", "-c", "1", &url]);
    assert_eq!((&result["requests"], &result["status"]["401"]), (&1.into(), &1.into()), "{}", result["status"]);
    assert_eq!(bearers(&server.texts()), ["mine"]);
}

#[test]
fn credentials_that_are_refused_are_failed_responses() {
    let refusing = |client: &mut Client| {
        while client.request().is_some() {
            client.send(
                b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n\r\n",
            );
        }
    };
    let server = Script::start(refusing);
    let result = torr_json(&["--digest", "-u", "ann:x", "-n", "5", "-c", "1", &server.url()]);
    assert_eq!((&result["requests"], &result["status"]["401"]), (&5.into(), &5.into()), "{}", result["status"]);
    // Without a nonce yet one more request is sent.
    assert_eq!(server.requests(), 6);
}

#[test]
fn a_hurl_file_meets_challenges_and_reads_credentials_of_files() {
    let server = Script::start(challenging(1, false));
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let host = server.address.ip();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file can be written");
        path.display().to_string()
    };
    write("credentials", format!("machine other login x password y\nmachine {host} login ann password s3cret\n"));
    let url = server.url();
    let file = write(
        "a.hurl",
        format!(
            "POST {url}one\n[Options]\ndigest: true\nuser: ann:s3cret\n`content`\nHTTP 200\n\n\
             GET {url}two\n[Options]\ndigest: true\nnetrc-file: credentials\nHTTP 200\n\n\
             GET {url}three\n[Options]\nnetrc-file: credentials\nHTTP 401\n"
        ),
    );
    let ended = torr(&["once", &file]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let texts = server.texts();
    let of = |path: &str| texts.iter().filter(|text| text.contains(path)).collect::<Vec<_>>();
    let (one, two, three) = (of(" /one "), of(" /two "), of(" /three "));
    assert_eq!((one.len(), two.len(), three.len()), (2, 2, 1), "{texts:?}");
    assert!(one[0].ends_with("\r\n\r\n") && one[1].ends_with("\r\n\r\ncontent"), "{one:?}");
    // The second entry knows the nonce of the first, which is not good any more.
    assert!(field(two[0], "Authorization").is_some_and(|value| value.contains("nonce=\"n1\"")), "{two:?}");
    assert!(field(two[1], "Authorization").is_some_and(|value| value.contains("nonce=\"n2\"")), "{two:?}");
    assert_eq!(field(three[0], "Authorization"), Some("Basic YW5uOnMzY3JldA=="));
    let result = torr_json(&["-n", "1", "-c", "1", &file]);
    assert_eq!(result["errors"]["status"], 0, "{}", result["errors"]);
    assert!(!result.to_string().contains("s3cret"), "{result}");
    // The user's own file is read by a check and by a run.
    let own = write("own.hurl", format!("GET {url}own\n[Options]\nnetrc: true\nHTTP 401\n"));
    let at_home = |args: &[&str], home: &Path| {
        let mut command = torr_command(args);
        command.env("HOME", home);
        Running::start(command).wait()
    };
    std::fs::rename(folder.path().join("credentials"), folder.path().join(".netrc")).expect("it is there");
    for args in [["check", &own], ["once", &own]] {
        let ended = at_home(&args, folder.path());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let ended = at_home(&args, Path::new("/dev/null"));
        assert!(ended.code == Some(2) && ended.stderr.contains("own.hurl:3:1: cannot read ~/.netrc: "), "{ended:?}");
    }
    let of_own = server.texts().iter().find(|text| text.contains(" /own ")).cloned().expect("it was sent");
    assert_eq!(field(&of_own, "Authorization"), Some("Basic YW5uOnMzY3JldA=="));
    let missing = write("b.hurl", format!("GET {url}\n[Options]\nnetrc-file: none\n"));
    let ended = torr(&["check", &missing]);
    assert!(ended.code == Some(2) && ended.stderr.contains("b.hurl:3:1: cannot read '"), "{ended:?}");
}

/// Issues tokens that live for a second, `token-1`, `token-2` and so on, to those who send the secret as it is to be sent.
fn issuing(in_form: bool) -> impl Fn(&mut Client) + Send + Sync + 'static {
    let issued = Arc::new(AtomicUsize::new(0));
    move |client| {
        while let Some(request) = client.request() {
            let text = String::from_utf8_lossy(&request).into_owned();
            let form = text.split_once("\r\n\r\n").map_or("", |(_, form)| form);
            let is_known = match in_form {
                true => form.contains("&client_id=my+id&client_secret=s3%3Acret"),
                false => field(&text, "authorization") == Some("Basic bXklMjBpZDpzMyUzQWNyZXQ="),
            };
            let (status, json) = if is_known {
                let number = issued.fetch_add(1, Ordering::SeqCst) + 1;
                let json =
                    format!("{{\"access_token\":\"token-{number}\",\"token_type\":\"bearer\",\"expires_in\":\"1\"}}");
                ("200 OK", json)
            } else {
                let json = "{\"error\":\"invalid_client\",\"error_description\":\"no s3:cret\\u001b[2J\"}";
                ("401 Unauthorized", json.to_owned())
            };
            let length = json.len();
            client.send(format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{json}").as_bytes());
        }
    }
}

fn bearers(texts: &[String]) -> Vec<String> {
    let mut bearers: Vec<_> =
        texts.iter().map(|text| field(text, "Authorization").unwrap_or("none").to_owned()).collect();
    bearers.dedup();
    bearers
}

#[test]
fn a_token_is_requested_before_the_run_and_renewed_during_it() {
    let service = Script::start(torr_test_support::script::answering(OK));
    for in_form in [false, true] {
        let tokens = Script::start(issuing(in_form));
        let (url, token_url) = (service.url(), format!("{}token", tokens.url()));
        let client = ["--oauth2-client", "my id:s3:cret", "--oauth2-token-url", &token_url];
        let more = ["--oauth2-scope", "a b", "--oauth2-param", "audience=x&y", "-d", "3s", "-c", "1", "-r", "50"];
        let before = service.texts().len();
        let result = torr_json(&[&client[..], &more, &[&url]].concat());
        let sent = bearers(&service.texts()[before..]);
        assert!(sent.len() > 1 && sent[..2] == ["Bearer token-1", "Bearer token-2"], "{sent:?}");
        assert!(!result.to_string().contains("s3:cret") && !result.to_string().contains("token-1"), "{result}");
        let form = "grant_type=client_credentials&scope=a+b&audience=x%26y";
        assert!(tokens.texts().iter().all(|text| text.contains(form)), "{:?}", tokens.texts());
        assert_eq!(result["status"], json!({"200": result["requests"]}), "{}", result["errors"]);
    }
    let tokens = Script::start(issuing(false));
    let fresh = |more: &[&str]| -> Value {
        let token_url = tokens.url();
        let client = ["--oauth2-client", "my id:s3:cret", "--oauth2-token-url", &token_url, "-n", "3", "-c", "1"];
        torr_json(&[&client[..], more].concat())
    };
    let before = service.texts().len();
    fresh(&["-H", "Authorization: mine", &service.url()]);
    assert_eq!(bearers(&service.texts()[before..]), ["mine"], "a field of the user's own replaces the token");
}

#[test]
fn a_token_that_is_not_issued_ends_the_command_with_the_reason() {
    let tokens = Script::start(issuing(false));
    let url = tokens.url();
    let args = ["--oauth2-client", "me:s3:cret", "--oauth2-token-url", &url, "-n", "1", "http://127.0.0.1:1"];
    let unreachable =
        torr(&["--oauth2-client", "me:x", "--oauth2-token-url", "http://127.0.0.1:1/", "http://127.0.0.1:1"]);
    let refused = "torr: cannot get a token from http://127.0.0.1:1/: connection refused\n";
    assert!(unreachable.code == Some(3) && unreachable.stderr == refused, "{unreachable:?}");
    let ended = torr(&args);
    let line = format!("torr: cannot get a token from {url}: status 401 (invalid_client: no ***");
    assert!(ended.stderr.starts_with(&line) && !ended.stderr.contains('\u{1b}'), "{ended:?}");
    assert!(ended.code != Some(0) && tokens.requests() == 2, "{ended:?}");
    let service = Script::start(torr_test_support::script::answering(OK));
    let url = service.url();
    let ended = torr(&["--oauth2-client", "me:x", "--oauth2-token-url", &url, "-n", "1", &url]);
    assert!(ended.stderr.contains("the response has no access_token"), "{ended:?}");
    assert_eq!(service.requests(), 1, "no load was sent");
}
