//! Secrets that a server sends back: no output has them, in any spelling.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use torr_test_support::nats::NatsServer;
use torr_test_support::program::{Ended, Running, torr_command};
use torr_test_support::script::{Client, OK, Script, answering};
use torr_test_support::servers::closed_port;

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
        (&["-H", "Referer: http://mia:ref-k9z@h/?token=r-tok-k9z"], &["ref-k9z", "r-tok-k9z"]),
        (&["-e", "http://mia:ref-k9z@h/"], &["ref-k9z"]),
        (&["-H", "X-Other: {{env TORR_TEST_KEY}}"], &["env-k&9\"z+"]),
        (&["--data", "user=mia&password=form-k9z%26"], &["form-k9z&"]),
        (&["--json-body", "{\"password\": \"j-k&9\\\"z\"}"], &["j-k&9\"z"]),
        (&["--data", "cc=me@h&to=http://mia:url-k9z@h/"], &["url-k9z"]),
        (&["--json-body", "{\"to\": \"http://mia:url-k9z@h/\"}"], &["url-k9z"]),
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

/// A session that expects to be refused, and gives up by what it was sent back.
const CAPTURING: &str = "\
GET {{url}}
X-Session-Id: own-k9z
HTTP 401
[Captures]
back: header \"X-Echo-X-Session-Id\"

GET {{back}}
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

    fs::write(folder.path().join("b.hurl"), CAPTURING).expect("there is room");
    let (ended, all) = outputs(folder.path(), &["b.hurl", "--variable", &url, "-c1", "-n1"]);
    assert!(all.contains("missing scheme in the URL '***'"), "{ended:?}");
    has_none(&all, &["own-k9z"]);

    let script = "function session(user)\n  local got = http.post('/a', { json = { pw = user.vars.pw }, \
        headers = { ['X-Api-Key'] = 'own-k9z' } })\n  user.fail(got.body)\nend\n";
    fs::write(folder.path().join("a.lua"), script).expect("there is room");
    let lua = [&*server.url(), "--script", "a.lua", "--secret", secret, "-c1", "-n4"].map(str::to_owned);
    let lua: Vec<&str> = lua.iter().map(String::as_str).collect();
    let (ended, all) = outputs(folder.path(), &lua);
    assert!(all.contains("HTTP/1.1 401"), "{ended:?}");
    has_none(&all, &["k&9\"z+", "own-k9z"]);
}

/// What stands in a URL: the user, and the parameters that are secret by their names.
const OF_THE_URL: [&str; 3] = ["user-k9z", "pass-k9z", "tok-k9z"];

/// Runs a command line in which '|' separates words and `TARGET` is a URL with secrets, and returns all that it printed and wrote.
fn with_secret_url(folder: &Path, line: &str, address: &str) -> (Ended, String) {
    let url = format!("http://user-k9z:pass-k9z@{address}/a?page=1&token=tok-k9z");
    let query = format!("http://{address}/a?api_key=tok-k9z&page=1");
    let words: Vec<_> = line.split('|').map(|word| word.replace("TARGET", &url).replace("QUERY", &query)).collect();
    let mut command = torr_command(&words.iter().map(String::as_str).collect::<Vec<_>>());
    command.current_dir(folder);
    let ended = Running::start(command).wait();
    let files = fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("it can be read").path());
    let written = files.filter(|path| path.extension().is_some_and(|end| end == "out"));
    let written = written.map(|path| {
        let text = String::from_utf8_lossy(&fs::read(&path).expect("it can be read")).into_owned();
        fs::remove_file(path).expect("it can be removed");
        text
    });
    let all = written.chain([ended.stdout.clone(), ended.stderr.clone()]).collect::<Vec<_>>().join("\n");
    (ended, all)
}

#[test]
fn no_output_of_any_command_has_the_secrets_of_its_url() {
    const FILES: &str = "--json|j.out|--report|h.out";
    let (folder, refusing, serving) =
        (tempfile::tempdir().expect("there is room"), echo(), Script::start(answering(OK)));
    let lines = [
        format!("TARGET|-c1|-n4|--hlog|l.out|--csv|c.out|--prometheus|p.out|--junit|x.out|{FILES}"),
        format!("QUERY|-c1|-n4|--hlog|l.out|{FILES}"),
        format!("limit|TARGET|--budget|5s|--max-connections|2|--slo|p99<5s,errors<100%|{FILES}"),
        format!("doctor|TARGET|--budget|5s|-c|2|{FILES}"),
        format!("doctor|TARGET|--paths|/a,/b?token=tok-k9z|--budget|5s|-c|2|{FILES}"),
        format!("doctor|QUERY|--via|TARGET|--budget|5s|-c|2|{FILES}"),
        format!("compare|TARGET|QUERY|--budget|5s|-c|2|{FILES}"),
        "once|TARGET|--data|password=tok-k9z".to_owned(),
        "once|QUERY|--json-body|{\"password\": \"tok-k9z\"}".to_owned(),
        "ab|-n|2|-c|1|QUERY".to_owned(),
        "ab|-v|4|-n|2|-c|1|QUERY".to_owned(),
        "wrk|-d|1|-c|1|-t|1|TARGET".to_owned(),
        "httpress|-n|2|TARGET".to_owned(),
        "press|-n|2|TARGET".to_owned(),
        "TARGET|--print-plan".to_owned(),
        "TARGET|--http2|--expect-body|x|--follow".to_owned(),
    ];
    for line in &lines {
        for server in [&refusing, &serving] {
            let (ended, all) = with_secret_url(folder.path(), line, &server.address.to_string());
            assert!(!all.trim().is_empty(), "{line}: {ended:?}");
            has_none(&all, &OF_THE_URL);
        }
    }
    let nowhere = format!("127.0.0.1:{}", closed_port());
    for line in ["TARGET|-n1|--junit|x.out", "QUERY|-n1|--junit|x.out", "limit|QUERY", "once|QUERY", "doctor|QUERY"] {
        let (ended, all) = with_secret_url(folder.path(), line, &nowhere);
        assert!(ended.code == Some(3) && all.contains("127.0.0.1"), "{line}: {ended:?}");
        has_none(&all, &OF_THE_URL);
    }
}

#[test]
fn no_output_of_a_fleet_has_what_was_sent() {
    let (nats, server, folder) = (NatsServer::start(), echo(), tempfile::tempdir().expect("there is room"));
    let agents = [nats.agent("one", &[]), nats.agent("two", &[])];
    let url = format!("http://user-k9z:pass-k9z@{}/?token=tok-k9z", server.address);
    let load =
        [&*url, "-n", "20", "-d", "20s", "-c", "2", "-H", "X-Api-Key: key k&9\"z+", "--data", "password=form-k9z"];
    let files = ["--json", "j", "--csv", "c", "--prometheus", "p", "--junit", "x", "--report", "h", "--hlog", "l"];
    let mut command = nats.run_of_fleet(&[&["--agents", "2", "--"], &load[..], &files].concat());
    command.current_dir(folder.path());
    let ended = Running::start(command).wait();
    let written = files.iter().filter_map(|name| fs::read_to_string(folder.path().join(name)).ok());
    let all = written.chain([ended.stdout.clone(), ended.stderr.clone()]).collect::<Vec<_>>().join("\n");
    assert!(all.contains("HTTP/1.1 401") && all.contains("token=***"), "{ended:?}");
    let secrets = [&OF_THE_URL[..], &["key k&9\"z+", "form-k9z"]].concat();
    has_none(&all, &secrets);
    for mut agent in agents {
        agent.says_times("ended", 1);
        agent.signal("TERM");
        assert_eq!(agent.wait().code(), Some(0), "{:?}", agent.said());
        has_none(&agent.said().join("\n"), &secrets);
    }
}

#[test]
fn a_secret_that_a_limit_cuts_is_not_shown_in_part() {
    let folder = tempfile::tempdir().expect("there is room");
    // Longer than what is kept of a response, and than what 'torr once' shows of a content.
    let secret: String = (0..3000).map(|n| format!("{n:06}-")).collect();
    let content = secret.clone();
    let server = Script::start(move |client| {
        while client.request().is_some() {
            let head = format!("HTTP/1.1 401 No\r\nContent-Length: {}\r\n\r\n", content.len());
            client.send((head + &content).as_bytes());
        }
    });
    let path = folder.path().join("secret");
    fs::write(&path, format!("password={secret}")).expect("there is room");
    let data = format!("@{}", path.display());
    for args in [&["-c1", "-n1", "--json", "-"][..], &["-c1", "-n1"]] {
        let ended = Running::start(torr_command(&[args, &["--data", &data, &server.url()]].concat())).wait();
        assert!(ended.stdout.contains("401") && !ended.stdout.contains("000001-"), "{ended:?}");
    }
    let ended = Running::start(torr_command(&["once", "--data", &data, &server.url()])).wait();
    assert!(ended.stdout.contains("401") && !ended.stdout.contains("000001-"), "{ended:?}");
}
