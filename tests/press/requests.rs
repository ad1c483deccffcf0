//! What is sent, as a server sees it: every option that makes a request, and every kind of list, placeholder and feeder.

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};
use tempfile::NamedTempFile;
use torr_test_support::program::{torr_command, torr_json};
use torr_test_support::script::{OK, Script, answering};

/// What `torr` sends with these arguments and a URL with this path, one request after another on one connection.
fn sent_to(path: &str, args: &[&str], times: usize) -> (Vec<String>, Value) {
    let server = Script::start(answering(OK));
    let url = format!("{}{path}", server.url().trim_end_matches('/'));
    sent_by(&server, &[args, &[url.as_str()]].concat(), times)
}

/// Runs a load with arguments that have the URL.
fn sent_by(server: &Script, args: &[&str], times: usize) -> (Vec<String>, Value) {
    let result = torr_json(&[args, &["-n", &times.to_string(), "-c", "1", "-t", "1"]].concat());
    assert_eq!(result["requests"], times, "{args:?}: {result}");
    let texts = server.texts();
    assert_eq!(texts.len(), times, "{args:?}");
    (texts, result)
}

fn sent(args: &[&str]) -> String {
    sent_to("/p", args, 1).0.remove(0)
}

fn first_line(text: &str) -> &str {
    text.lines().next().and_then(|line| line.strip_suffix(" HTTP/1.1")).unwrap_or_else(|| panic!("{text:?}"))
}

/// The first lines, without the version.
fn lines(texts: &[String]) -> Vec<&str> {
    texts.iter().map(|text| first_line(text)).collect()
}

fn body(text: &str) -> &str {
    text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?}")).1
}

fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// A file with this ending and content.
fn file(suffix: &str, content: impl AsRef<[u8]>) -> NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(suffix).tempfile().expect("there is room for temporary files");
    file.write_all(content.as_ref()).expect("a file can be written");
    file
}

fn path(file: &NamedTempFile) -> String {
    file.path().display().to_string()
}

#[test]
fn pieces_of_data_are_joined_in_their_order() {
    let text = file(".txt", "x=\r\n1\n");
    let at = |name: &str| format!("{name}@{}", path(&text));
    let cases: &[(&[&str], &str)] = &[
        (&["--data", "a=1"], "a=1"),
        (&["--data", ""], ""),
        (&["--data-raw", "@x", "--data", "b", "--data-binary", "c", "--data", "d"], "@x&b&c&d"),
        (&["--data", &at("")], "x=1"),
        (&["--data-binary", &at("")], "x=\r\n1\n"),
        (&["--data-urlencode", "a b", "--data-urlencode", "=c=d"], "a%20b&c%3Dd"),
        (&["--data-urlencode", "e=f&g", "--data-urlencode", &at("h")], "e=f%26g&h=x%3D%0D%0A1%0A"),
        (&["--data-urlencode", &at("")], "x%3D%0D%0A1%0A"),
    ];
    for (args, expected) in cases {
        let got = sent(args);
        assert_eq!((first_line(&got), body(&got)), ("POST /p", *expected), "{args:?}");
        assert_eq!(field(&got, "Content-Type"), Some("application/x-www-form-urlencoded"), "{args:?}");
        assert_eq!(field(&got, "Content-Length"), Some(&*expected.len().to_string()), "{args:?}");
    }
}

#[test]
fn a_signature_is_that_of_curl() {
    let large = file(".bin", vec![b'x'; 200_000]);
    let data = format!("@{}", path(&large));
    let cases: &[&[&str]] = &[
        &[],
        &["-X", "DELETE"],
        &["--data", "a=1&b=2", "-H", "Content-Type: text/plain"],
        &["--data-binary", &data, "-H", "Content-Type: application/octet-stream"],
        &["-H", "X-Amz-Security-Token: a+b/c"],
    ];
    let signing = ["--aws-sigv4", "aws:amz:eu-west-1:execute-api", "-u", "KEY:s3cret"];
    for args in cases {
        let server = Script::start(answering(OK));
        let url = format!("{}dir/file?a=1&b=2", server.url());
        let ran = Command::new("curl").args(["-sS", "-m", "20"]).args(signing).args(*args).arg(&url).output();
        assert!(ran.expect("curl is installed").status.success(), "{args:?}");
        let texts = server.texts();
        let time = field(&texts[0], "X-Amz-Date").expect("it is signed");
        // A request that has the time itself is signed for that time.
        let date = format!("X-Amz-Date: {time}");
        let result = torr_json(&[&signing[..], args, &["-H", &date, "-n", "1", "-c", "1", &url]].concat());
        let both = server.texts();
        assert_eq!(field(&both[1], "Authorization"), field(&both[0], "Authorization"), "{args:?}");
        assert!(!result.to_string().contains("s3cret"), "{result}");
    }
    // Each has its own content, and its own signature; equal ones are signed again in another second only.
    let of = |data: &[&str]| {
        let (texts, _) = sent_to("/p", &[&signing[..], data].concat(), 3);
        texts.iter().map(|text| field(text, "Authorization").unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let different = of(&["--data", "n={{seq}}"]);
    assert!(different[0] != different[1] && different[1] != different[2], "{different:?}");
    assert!(of(&["--data", "n=1"]).iter().all(|value| value.starts_with("AWS4-HMAC-SHA256 Credential=KEY/")));
    let own = sent(&[&signing[..], &["-H", "Authorization: mine"]].concat());
    assert_eq!((field(&own, "Authorization"), field(&own, "X-Amz-Date")), (Some("mine"), None));
}

#[test]
fn a_body_from_standard_input() {
    let server = Script::start(answering(OK));
    let mut command = torr_command(&["-n", "1", "-c", "1", "--data-binary", "@-", &server.url()]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("torr starts");
    let mut stdin = child.stdin.take().expect("it was piped");
    stdin.write_all(b"from a pipe\n").expect("torr reads it");
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
    assert_eq!(body(&server.texts()[0]), "from a pipe\n");
}

#[test]
fn json_says_what_it_is() {
    let json = file(".json", "{\"a\":\n1}");
    let cases: &[(&[&str], &str)] = &[
        (&["--json-body", "{\"a\":1}"], "{\"a\":1}"),
        (&["--json-body", &format!("@{}", path(&json))], "{\"a\":\n1}"),
        (&["--json-body", "{\"a\":1", "--json-body", ",\"b\":2}"], "{\"a\":1,\"b\":2}"),
    ];
    for (args, expected) in cases {
        let got = sent(args);
        assert_eq!((first_line(&got), body(&got)), ("POST /p", *expected), "{args:?}");
        assert_eq!(field(&got, "Content-Type"), Some("application/json"));
        assert_eq!(field(&got, "Accept"), Some("application/json"));
    }
}

#[test]
fn a_form_has_texts_and_files() {
    let (png, text) = (file(".png", b"\x89PNG {{x}}"), file(".txt", "from a file"));
    let name = png.path().file_name().expect("it has a name").to_string_lossy().into_owned();
    let args = [
        "-F",
        "a=x y;z",
        "-F",
        &format!("b=@{}", path(&png)),
        "-F",
        &format!("c=@{};type=text/csv;filename=\"d.csv\"", path(&png)),
        "-F",
        &format!("e=<{}", path(&text)),
        "--form",
        "f={{seq}};type=text/plain",
    ];
    let got = sent(&args);
    assert_eq!(first_line(&got), "POST /p");
    let media_type = field(&got, "Content-Type").expect("a form has a type");
    let boundary = media_type.strip_prefix("multipart/form-data; boundary=").expect("a form has a boundary");
    let parts: Vec<_> = body(&got).split(&format!("--{boundary}")).collect();
    let expected = [
        String::new(),
        "\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx y;z\r\n".into(),
        format!(
            "\r\nContent-Disposition: form-data; name=\"b\"; filename=\"{name}\"\r\n\
             Content-Type: image/png\r\n\r\n\u{fffd}PNG {{{{x}}}}\r\n"
        ),
        "\r\nContent-Disposition: form-data; name=\"c\"; filename=\"d.csv\"\r\n\
         Content-Type: text/csv\r\n\r\n\u{fffd}PNG {{x}}\r\n"
            .into(),
        "\r\nContent-Disposition: form-data; name=\"e\"\r\n\r\nfrom a file\r\n".into(),
        "\r\nContent-Disposition: form-data; name=\"f\"\r\nContent-Type: text/plain\r\n\r\n1\r\n".into(),
        "--\r\n".into(),
    ];
    assert_eq!(parts, expected);
}

#[test]
fn fields_of_the_head() {
    let cases: &[(&[&str], &str, Option<&str>)] = &[
        (&["-u", "Aladdin:open sesame"], "Authorization", Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")),
        (&["--user", "u:"], "Authorization", Some("Basic dTo=")),
        (&["--oauth2-bearer", "abc"], "Authorization", Some("Bearer abc")),
        (&["--user", "u:p", "-H", "Authorization: own"], "Authorization", Some("own")),
        (&["-b", "a=b; c=d", "--cookie", "e=f"], "Cookie", Some("a=b; c=d; e=f")),
        (&["-A", "me"], "User-Agent", Some("me")),
        (&["--user-agent", ""], "User-Agent", None),
        (&["-e", "http://from/"], "Referer", Some("http://from/")),
        (&["--compressed"], "Accept-Encoding", Some("gzip, br, zstd")),
        (&["--data", "{}", "-H", "Content-Type: text/x"], "Content-Type", Some("text/x")),
        (&["--data", "{}", "-H", "Content-Type:"], "Content-Type", None),
        (&["--no-keepalive"], "Connection", Some("close")),
    ];
    for (args, name, expected) in cases {
        let got = sent(args);
        assert_eq!(field(&got, name), *expected, "{args:?}: {got}");
        let often = got.lines().filter(|line| line.starts_with(&format!("{name}:"))).count();
        assert_eq!(often, usize::from(expected.is_some()), "{args:?}: {got}");
    }
}

#[test]
fn a_user_in_the_url_is_used_and_not_shown() {
    let server = Script::start(answering(OK));
    let url = server.url().replace("http://", "http://Aladdin:open%20sesame@");
    let (texts, result) = sent_by(&server, &[&url], 1);
    assert_eq!(field(&texts[0], "Authorization"), Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
    assert_eq!(field(&texts[0], "Host"), Some(&*server.address.to_string()));
    assert_eq!(result["target"], server.url(), "the password is in the result");
}

#[test]
fn methods_and_queries() {
    let cases: &[(&[&str], &str, &str)] = &[
        (&["-X", "DELETE"], "/p", "DELETE /p"),
        (&["-G", "--data", "a=1", "--data-urlencode", "b=c d"], "/p", "GET /p?a=1&b=c%20d"),
        (&["--get", "--data", "a=1"], "/p?z=0#f", "GET /p?z=0&a=1"),
        (&["-G", "-I", "--data", "a=1"], "/p", "HEAD /p?a=1"),
        (&["-G", "-X", "SEARCH", "--data", "a=1"], "/p", "SEARCH /p?a=1"),
        (&["--url-query", "a=b c", "--url-query", "+d=%20"], "/p", "GET /p?a=b%20c&d=%20"),
        (&["--url-query", "a=1", "-G", "--data", "b=2"], "/p", "GET /p?a=1&b=2"),
        (&["--url-query", "a=1", "--data", "b=2"], "/p", "POST /p?a=1"),
    ];
    for (args, path, expected) in cases {
        let server = Script::start(|client| {
            while let Some(request) = client.request() {
                // The response to a HEAD has no body, whatever its length says.
                client.send(if request.starts_with(b"HEAD") { &OK[..OK.len() - 2] } else { OK });
            }
        });
        let url = format!("{}{path}", server.url().trim_end_matches('/'));
        let (texts, result) = sent_by(&server, &[args, &[url.as_str()][..]].concat(), 2);
        assert_eq!(lines(&texts), [*expected; 2], "{args:?}");
        assert_eq!(result["plan"]["method"], *expected.split(' ').next().expect("it has a method"));
        assert_eq!(result["bytes"]["body"], if expected.starts_with("HEAD") { 0 } else { 4 }, "{args:?}: {result}");
    }
}

#[test]
fn a_request_without_content_has_the_length_that_its_method_expects() {
    for method in ["POST", "PUT", "PATCH"] {
        assert_eq!(field(&sent(&["-X", method]), "Content-Length"), Some("0"), "{method}");
    }
    for method in ["GET", "DELETE", "OPTIONS"] {
        assert_eq!(field(&sent(&["-X", method]), "Content-Length"), None, "{method}");
    }
    assert_eq!(field(&sent(&["-X", "POST", "--data", "a=1"]), "Content-Length"), Some("3"));
}

#[test]
fn what_can_be_printed_is_sent_as_it_stands_in_the_url() {
    for target in ["/p?a='\"<>", "/a|^b?c=|^`{}\\[]", "/\"<>`'?a", "/p?\"q\"={\"a\":1}"] {
        let (texts, _) = sent_to(target, &["--no-template"], 1);
        assert_eq!(first_line(&texts[0]), format!("GET {target}"));
    }
    let server = Script::start(answering(OK));
    let url = format!("http://127.0.0.1:0{}/p", server.address.port());
    let (texts, result) = sent_by(&server, &[&url], 1);
    assert_eq!(field(&texts[0], "Host"), Some(&*server.address.to_string()));
    assert_eq!(result["target"], format!("{}p", server.url()), "the port is a number");
}

#[test]
fn a_list_in_sequence() {
    let server = Script::start(|client| {
        while let Some(request) = client.request() {
            client.send(if request.starts_with(b"HEAD") { &OK[..OK.len() - 2] } else { OK });
        }
    });
    let list = file(
        ".txt",
        format!("# of the shop\n\n2 {}a?{{{{rand 5 5}}}}\nHEAD /b\nPUT /c {{\"n\": {{{{seq}}}}}}\n", server.url()),
    );
    let args = ["--urls", &path(&list), "--order", "sequence", "-H", "X: y"];
    let (texts, result) = sent_by(&server, &args, 5);
    assert_eq!(lines(&texts), ["GET /a?5", "GET /a?5", "HEAD /b", "PUT /c", "GET /a?5"]);
    assert_eq!((body(&texts[2]), body(&texts[3])), ("", "{\"n\": 1}"));
    assert!(texts.iter().all(|text| field(text, "X") == Some("y")));
    assert_eq!(result["plan"]["method"], "GET,HEAD,PUT");
    assert_eq!(result["bytes"]["body"], 8, "{result}");
}

#[test]
fn a_list_beside_a_url_and_from_standard_input() {
    let server = Script::start(answering(OK));
    let url = format!("{}first", server.url());
    let mut command = torr_command(&["-n", "3", "-c", "1", "-t", "1", "--urls", "-", "--order", "sequence", &url]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("torr starts");
    let mut stdin = child.stdin.take().expect("it was piped");
    stdin.write_all(b"/second\n").expect("torr reads it");
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
    assert_eq!(lines(&server.texts()), ["GET /first", "GET /second", "GET /first"]);
}

#[test]
fn a_list_at_random_follows_its_weights() {
    let server = Script::start(answering(OK));
    let list = file(".txt", format!("{}a\n9 /b\n", server.url()));
    let (texts, _) = sent_by(&server, &["--urls", &path(&list)], 2000);
    let often = lines(&texts).iter().filter(|&&line| line == "GET /a").count();
    // 200 and five standard deviations.
    assert!((133..=267).contains(&often), "{often} of 2000");
}

#[test]
fn placeholders_in_path_header_and_body() {
    let args = ["--data", "{{seq}} {{{{seq}}", "-H", "X-Id: {{uuid}}"];
    let (texts, _) = sent_to("/{{seq}}/{{rand 3 4}}?t={{now}}&s={{randstr 12}}", &args, 12);
    for (at, text) in texts.iter().enumerate() {
        let number = (at + 1).to_string();
        assert_eq!(body(text), format!("{number} {{{{seq}}}}"));
        assert_eq!(field(text, "Content-Length"), Some(&*body(text).len().to_string()));
        let line = first_line(text).strip_prefix(&format!("POST /{number}/")).unwrap_or_else(|| panic!("{text}"));
        let (dice, query) = line.split_once("?t=").unwrap_or_else(|| panic!("{text}"));
        let (now, letters) = query.split_once("&s=").unwrap_or_else(|| panic!("{text}"));
        assert!(["3", "4"].contains(&dice) && letters.len() == 12 && now.parse::<u64>().is_ok(), "{text}");
    }
    let mut ids: Vec<_> = texts.iter().map(|text| field(text, "X-Id").expect("it was asked for")).collect();
    ids.sort_unstable();
    ids.dedup();
    assert!(ids.len() == 12 && ids.iter().all(|id| id.len() == 36), "{ids:?}");
}

#[test]
fn numbers_are_unique_over_threads_and_connections() {
    let server = Script::start(answering(OK));
    let url = format!("{}{{{{seq}}}}", server.url());
    let result = torr_json(&["-n", "3000", "-c", "20", "-t", "3", &url]);
    assert_eq!(result["requests"], 3000, "{result}");
    let texts = server.texts();
    let mut numbers: Vec<_> = lines(&texts).iter().map(|line| line["GET /".len()..].parse::<u64>().unwrap()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!((numbers.len(), numbers[0]), (3000, 1));
}

#[test]
fn placeholders_can_be_turned_off() {
    let (texts, _) = sent_to("/{{seq}}", &["--no-template", "--data", "{{now}} {{", "-H", "X: {{y}}"], 1);
    assert_eq!((first_line(&texts[0]), body(&texts[0])), ("POST /{{seq}}", "{{now}} {{"));
    assert_eq!(field(&texts[0], "X"), Some("{{y}}"));
}

#[test]
fn the_environment_is_read_at_the_start() {
    let server = Script::start(answering(OK));
    let url = format!("{}{{{{env TORR_TEST_PLACE}}}}", server.url());
    let mut command = torr_command(&["-n", "1", "-c", "1", &url]);
    let status = command.env("TORR_TEST_PLACE", "a b").stdout(Stdio::null()).status().expect("torr starts");
    assert!(status.success());
    assert_eq!(lines(&server.texts()), ["GET /a%20b"]);
}

#[test]
fn records_in_sequence_from_every_kind_of_file() {
    let csv = file(".csv", "user.name,id\n\"Ada L\",1\nBob,2\n");
    let tsv = file(".tsv", "user.name\tid\nAda L\t1\nBob\t2\n");
    let json =
        file(".jsonl", "{\"user\": {\"name\": \"Ada L\"}, \"id\": 1}\n{\"user\": {\"name\": \"Bob\"}, \"id\": 2}\n");
    for feeder in [csv, tsv, json] {
        let args = ["--feeder", &path(&feeder), "--json-body", "{\"id\":{{id}}}", "-H", "X-Name: {{user.name}}"];
        let (texts, _) = sent_to("/{{user.name}}?n={{user.name}}", &args, 3);
        let expected = ["POST /Ada%20L?n=Ada%20L", "POST /Bob?n=Bob", "POST /Ada%20L?n=Ada%20L"];
        assert_eq!(lines(&texts), expected, "{feeder:?}");
        let rest: Vec<_> = texts.iter().map(|text| (field(text, "X-Name"), body(text))).collect();
        let ada = (Some("Ada L"), "{\"id\":1}");
        assert_eq!(rest, [ada, (Some("Bob"), "{\"id\":2}"), ada], "{feeder:?}");
    }
}

#[test]
fn records_at_random() {
    let feeder = file(".csv", "id\n1\n2\n3\n4\n");
    let args = ["--feeder", &path(&feeder), "--feeder-order", "random"];
    let (texts, _) = sent_to("/{{id}}", &args, 400);
    let got = lines(&texts);
    for id in 1..=4 {
        // 100 and five standard deviations.
        let often = got.iter().filter(|line| **line == format!("GET /{id}")).count();
        assert!((56..=144).contains(&often), "{id}: {often} of 400");
    }
    let in_turn = got.windows(2).filter(|two| two[0] < two[1]).count();
    assert!(in_turn < 250, "they look like a sequence");
}
