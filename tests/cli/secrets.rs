//! Secrets that a server sends back: no output has them, in any spelling.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use torr_test_support::program::{Ended, Running, torr_command};
use torr_test_support::script::{Client, Script};

/// A server that refuses every request, and sends it back in its status line, a field and the content, spelled in several ways.
fn echo() -> Script {
    let turn = AtomicUsize::new(0);
    Script::start(move |client| echo_to(client, &turn))
}

fn echo_to(client: &mut Client, turn: &AtomicUsize) {
    while let Some(request) = client.request() {
        let text = String::from_utf8_lossy(&request).into_owned();
        let json = serde_json::to_string(&text).expect("text is JSON");
        let xml = text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        let percent =
            |byte: u8| if byte.is_ascii_alphanumeric() { (byte as char).into() } else { format!("%{byte:02X}") };
        let encoded: String = request.iter().map(|byte| percent(*byte)).collect();
        let fields: String = text
            .split("\r\n\r\n")
            .next()
            .unwrap_or_default()
            .lines()
            .skip(1)
            .filter(|line| line.contains(": "))
            .map(|line| format!("X-Echo-{line}\r\n"))
            .filter(|line| !line.starts_with("X-Echo-Content-Length"))
            .collect();
        // The beginning of a long content is shown, so that each spelling comes in a response of its own.
        let content = match turn.fetch_add(1, Ordering::SeqCst) % 4 {
            0 => json,
            1 => xml,
            2 => encoded,
            _ => text,
        };
        let reason = content.chars().filter(|c| !c.is_control()).take(150).collect::<String>();
        let length = content.len();
        let head = format!("HTTP/1.1 401 {reason}\r\n{fields}Content-Length: {length}\r\n\r\n");
        client.send((head + &content).as_bytes());
    }
}

/// Runs Torr in a folder with every output, and returns all that it printed and wrote.
fn outputs(folder: &Path, args: &[&str]) -> (Ended, String) {
    let files = ["--json", "j", "--csv", "c", "--prometheus", "p", "--junit", "x", "--report", "h.html"];
    let mut command = torr_command(&[args, &files].concat());
    command.current_dir(folder).env("TORR_TEST_KEY", "env-k&9\"z+");
    let ended = Running::start(command).wait();
    let written =
        ["j", "c", "p", "x", "h.html"].iter().map(|name| fs::read_to_string(folder.join(name)).unwrap_or_default());
    let all = written.chain([ended.stdout.clone(), ended.stderr.clone()]).collect::<Vec<_>>().join("\n");
    (ended, all)
}

/// Fails if a text has one of these, in a spelling that the echo has.
fn has_none(text: &str, secrets: &[&str]) {
    use base64::Engine;
    for secret in secrets {
        let json = serde_json::to_string(secret).expect("text is JSON");
        let json = &json[1..json.len() - 1];
        let percent = secret.bytes().map(|byte| match byte.is_ascii_alphanumeric() {
            true => (byte as char).to_string(),
            false => format!("%{byte:02X}"),
        });
        for spelled in [
            (*secret).to_owned(),
            json.to_owned(),
            json.replace('\\', "\\\\"),
            percent.collect(),
            secret.replace('&', "&amp;").replace('"', "&quot;"),
            base64::prelude::BASE64_STANDARD.encode(secret),
            base64::prelude::BASE64_STANDARD.encode(format!("mia:{secret}")),
        ] {
            assert!(!text.contains(&spelled), "{spelled} is in {text}");
        }
    }
}

#[test]
fn no_output_of_a_url_has_what_was_sent() {
    let server = echo();
    let folder = tempfile::tempdir().expect("there is room");
    let url = server.url();
    let with_token = format!("{url}?token=t-k&page=1");
    let records = "key\nrecord-k&9\nrecord-two\n";
    fs::write(folder.path().join("keys.csv"), records).expect("there is room");
    let cases: &[(&[&str], &[&str])] = &[
        (&["-u", "mia:k&9\"z+"], &["k&9\"z+"]),
        (&["--oauth2-bearer", "bear-k9z"], &["bear-k9z"]),
        (&["-H", "X-Api-Key: key k&9\"z+"], &["key k&9\"z+"]),
        (&["-H", "Authorization: Token tok-k9z"], &["tok-k9z"]),
        (&["-b", "sid=s3ss-k9z; theme=dark"], &["s3ss-k9z"]),
        (&["-H", "X-Other: {{env TORR_TEST_KEY}}"], &["env-k&9\"z+"]),
        (&["--data", "user=mia&password=form-k9z%26"], &["form-k9z&"]),
        (&["--json-body", "{\"password\": \"j-k&9\\\"z\"}"], &["j-k&9\"z"]),
        (&["-H", "Authorization: Bearer {{key}}", "--feeder", "keys.csv"], &["record-k&9", "record-two"]),
        (&["-u", "mia:{{key}}", "--feeder", "keys.csv"], &["record-k&9", "record-two"]),
    ];
    for (args, secrets) in cases {
        let (ended, all) = outputs(folder.path(), &[&[&*url, "-c1", "-n5"], *args].concat());
        assert!(ended.code == Some(0) && all.contains("HTTP/1.1 401"), "{args:?}: {ended:?}");
        has_none(&all, secrets);
    }
    let (ended, all) = outputs(folder.path(), &[&with_token, "-c1", "-n4"]);
    assert!(ended.code == Some(0) && all.contains("page"), "{ended:?}");
    has_none(&all, &["t-k"]);
}

const HURL: &str = "\
POST {{url}}login?q={{pw}}
X-Session-Id: own-k9z
[BasicAuth]
mia: {{pw}}
[Form]
f: {{pw}}
HTTP 200
[Asserts]
body == \"never\"
";

#[test]
fn no_output_of_sessions_has_what_was_sent() {
    let server = echo();
    let folder = tempfile::tempdir().expect("there is room");
    fs::write(folder.path().join("a.hurl"), HURL).expect("there is room");
    let url = format!("url={}", server.url());
    let secret = "pw=k&9\"z+";
    let (ended, all) = outputs(folder.path(), &["a.hurl", "--variable", &url, "--secret", secret, "-c1", "-n4"]);
    assert!(all.contains("HTTP/1.1 401"), "{ended:?}");
    has_none(&all, &["k&9\"z+", "own-k9z"]);
    for _ in 0..4 {
        let mut command = torr_command(&["once", "a.hurl", "--variable", &url, "--secret", secret]);
        command.current_dir(folder.path());
        let ended = Running::start(command).wait();
        assert!(ended.code == Some(1) && ended.stdout.contains("Authorization: Basic ***"), "{ended:?}");
        has_none(&ended.stdout, &["k&9\"z+"]);
    }

    let script = "function session(user)\n  local got = http.post('/a', { json = { pw = user.vars.pw }, \
        headers = { ['X-Api-Key'] = 'own-k9z' } })\n  user.fail(got.body)\nend\n";
    fs::write(folder.path().join("a.lua"), script).expect("there is room");
    let lua = [&*server.url(), "--script", "a.lua", "--secret", secret, "-c1", "-n4"].map(str::to_owned);
    let lua: Vec<&str> = lua.iter().map(String::as_str).collect();
    let (ended, all) = outputs(folder.path(), &lua);
    assert!(all.contains("HTTP/1.1 401"), "{ended:?}");
    has_none(&all, &["k&9\"z+", "own-k9z"]);
}
