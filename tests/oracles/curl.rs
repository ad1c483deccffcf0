//! curl itself as an oracle: a script of the shell, and what is imported of it, send the same requests.

use crate::compare::{Compared, compared};
use crate::echo::Echo;
use crate::walk;
use std::path::Path;
use std::process::Command;
use torr_test_support::program::Running;
use torr_test_support::required::cannot_run;

/// Files that the scripts name.
const FILES: &[(&str, &[u8])] = &[
    ("up.txt", b"first\nsecond\r\n"),
    ("two.txt", b"2\n"),
    ("line.txt", b"a=1&b=2"),
    ("UP.PNG", b"\x89PNG\r\n\0\xff"),
    ("fields.txt", b"X-One: 1\nX-Two:  2\n\n"),
    ("body.json", b"{\"a\": [1, 2]}\n"),
    ("netrc.txt", b"machine other login a password b\nmachine 127.0.0.1 login mia password \"pw 1\"\n"),
];

/// Values of the variables that stand for credentials.
const SECRETS: &[(&str, &str)] = &[("password", "pw 1"), ("cookie", "a=1; b=2"), ("authorization", "abc")];

/// Scripts whose requests are sent byte for byte. `URL` stands for the server.
const SAME: &[&str] = &[
    // Uploads.
    "curl -T up.txt URL/dir/",
    "curl -T up.txt URL",
    "curl -T up.txt 'URL/d/?x=1'",
    "curl -T up.txt URL/other.bin",
    "curl -T up.txt URL/1/ -T two.txt URL/2/ URL/3",
    "curl -T '{up,two}.txt' URL/many/",
    "curl -T - URL/x < up.txt",
    // Data, with and without line ends.
    "curl -d @up.txt URL",
    "curl -d @up.txt -d x=1 -d @two.txt URL",
    "curl -d @line.txt URL",
    "curl --data-binary @up.txt URL",
    "curl --data-binary @UP.PNG -H 'Content-Type: image/png' URL",
    "curl --data-raw @up.txt URL",
    "curl --json @body.json URL",
    "curl --json '{\"a\":' --json '1}' URL",
    "curl -d '' URL",
    "curl -d 'a=b c&d=%c3%a9+x' URL",
    "curl -d 'a=1&b=%C3%A9' URL",
    "curl -d 'password=pw 1&a=b' URL",
    "curl -d ' {\"a\": 1} ' -H 'Content-Type: application/json' URL",
    "curl -d '{\"a\": \"{{x}}\"}' -H 'Content-Type: application/json' URL",
    "curl --data-binary $'{\"a\":\\r\\n1}\\n' -H 'Content-Type: application/json' URL",
    "curl -d '<a> \r </a>' -H 'Content-Type: text/xml' URL",
    "curl --data-urlencode 'a=b c.d-_~*+é/' --data-urlencode =x@y --data-urlencode 'é' URL",
    "curl --data-urlencode 'f@up.txt' --data-urlencode @two.txt URL",
    "curl -G -d @line.txt --data-urlencode 'q=a b/c' 'URL/?x=1'",
    "curl --url-query 'a=b c' --url-query +d=%20 URL/p",
    // Forms.
    "curl -F 'a=b c' -F 'n\"x=y' URL",
    "curl -F 'f=@up.txt' -F 'g=@UP.PNG;type=image/x-png' URL",
    "curl -F 'f=@UP.PNG' URL",
    "curl -F 'f=@up.txt;filename=other.bin' URL",
    "curl -F 'f=@up.txt;filename=\"a;\\\"b.c\"' URL",
    "curl -F 'f=<up.txt' URL",
    "curl -F 'f=@up.txt,two.txt' URL",
    "curl -F 'x=y;type=text/x' -F 'z=<two.txt;type=text/y' URL",
    "curl -F 'h=v;headers=\"X-A: b\"' URL",
    "curl -F a=b -H 'Content-Type: multipart/form-data' URL",
    "curl -F 'f=@-;filename=in.txt;type=text/plain' URL < up.txt",
    // Fields.
    "curl -H 'Accept:' URL",
    "curl -H 'Accept:' -H 'User-Agent:' URL",
    "curl -A '' -e '' URL",
    "curl -A mine -e 'http://a/;auto' URL",
    "curl -A mine -H 'User-Agent: other' URL",
    "curl -d x -H 'Content-Type:' URL",
    "curl -d '{\"a\":1}' -H 'content-type:' URL",
    "curl -H 'X-Empty;' -H 'X-Twice: 1' -H 'X-Twice: 2' URL",
    "curl -H @fields.txt URL",
    "curl -r 600 URL",
    "curl -r 0-99 URL",
    "curl -r 600 -H 'Range: bytes=1-2' URL",
    "curl -b 'a=1' -b 'b=2' URL",
    "curl -u 'mia:pw 1' URL",
    "curl 'http://mia:pw%201@HOST/'",
    "curl --oauth2-bearer abc URL",
    "curl --digest -u 'mia:pw 1' URL",
    "curl --digest -u 'mia:pw 1' -d a=b URL",
    "curl --netrc-file netrc.txt URL",
    "curl -n --netrc-file netrc.txt --digest URL",
    "curl --compressed URL",
    "curl --compressed --no-compressed URL",
    // Methods.
    "curl -I URL",
    "curl -X DELETE URL/x",
    "curl -X GET -d a=b URL",
    "curl -I -G -d a=b URL",
    // URLs.
    "curl 'URL/{a,b}/[1-2]?[08-10]'",
    "curl 'URL/[a-e:2]/{x}'",
    "curl 'URL/\\[1\\]/?x[]=1'",
    "curl -g 'URL/[1]/?x=[1]'",
    "curl 'URL/a/../b/./c#d' HOST",
    "curl URL/one --next -d x URL/two",
    // What commands read.
    "curl URL -d @- <<EOF\n{\"kind\": \"here\"}\nEOF",
    "curl URL --data-binary @- <<'END'\n{\"kind\": \"$here\"}\nEND\ncurl URL/after",
    "curl URL -d @- <<-EOF\n\t\ta=1\n\tEOF",
    "curl URL -d @- <<< 'kind=herestring'",
    "curl --data-binary @- URL < up.txt",
    "< up.txt curl --data-binary @- URL",
    "echo 'a=1' | curl -d @- URL",
    "echo -n '{\"a\": 1}' | curl --json @- URL",
    "printf '%s=%s\\n' a 'b c' | curl --data-binary @- URL",
    "cat up.txt | curl --data-binary @- URL",
    "cat <<EOF | curl -d @- URL\nx=1\nEOF",
    "curl URL $'-H' $'X-A: \\x41\\101'",
    // Cookies between commands.
    "curl URL/one; curl URL/two",
    "curl URL/one URL/two",
    "curl -b '' URL/one URL/two",
    "curl -c jar.txt URL/one; curl -b jar.txt URL/two; curl URL/three",
];

/// Scripts that cannot be imported as they are, and what is said.
const SAID: &[(&str, &str)] = &[
    ("curl -u 'mia:pw 1' --digest --basic URL", "credentials of --digest are not sent"),
    ("curl --ntlm -u mia:pw URL", "credentials of --ntlm are not sent"),
    ("curl -X sTrange URL", "method sTrange, 1 time (hurl methods must be in capital letters: STRANGE is sent)"),
    ("curl -H 'Transfer-Encoding: chunked' -d x URL", "field Transfer-Encoding, 1 time"),
    ("curl --http2 URL", "--http2, 1 time (over http://"),
    ("curl -0 URL", "--http1.0, 1 time (the request is sent as HTTP/1.1)"),
    ("curl -4 URL", "--ipv4, 1 time"),
    ("curl -d @missing.txt URL", "line ends of 'missing.txt', 1 time (curl removes them"),
    ("jq . x | curl -d @- URL", "data of standard input, 1 time (the output of jq is known to the shell only)"),
    ("curl -L -X POST URL", "-X POST after a redirect, 1 time"),
    ("curl -g 'URL/{a}'", "characters of the URL {}, 1 time (the target is sent as /%7Ba%7D)"),
    ("curl -m 1 URL; curl -m 2 URL", "--max-time 2 s, 1 time"),
];

fn prepared(folder: &Path, echo: &Echo, script: &str) {
    for (name, content) in FILES {
        std::fs::write(folder.join(name), content).expect("there is room");
    }
    let host = echo.origin.trim_start_matches("http://");
    let script = script.replace("HOST", host).replace("URL", &echo.origin);
    std::fs::write(folder.join("script.sh"), script + "\n").expect("there is room");
}

/// Runs the script of a folder, and returns the requests that the server got.
fn sent_by_curl(folder: &Path, echo: &Echo) -> Vec<Compared> {
    let mut bash = Command::new("bash");
    // No settings of the user, and no end of the connection after each request.
    bash.arg("-c").arg("curl() { command curl -q -sS \"$@\"; }; . ./script.sh").current_dir(folder);
    let ended = Running::start(bash).wait();
    let script = std::fs::read_to_string(folder.join("script.sh"));
    assert!(ended.stderr.is_empty(), "{script:?}: {ended:?}");
    compared(echo.take(), &[])
}

fn has_curl() -> bool {
    let found = Command::new("curl").arg("--version").output().is_ok();
    if !found {
        cannot_run("the oracle curl", "curl is not installed");
    }
    found
}

#[test]
fn what_is_imported_sends_what_curl_sends() {
    if !has_curl() {
        return;
    }
    let echo = Echo::start();
    let mut different = Vec::new();
    for script in SAME {
        let folder = tempfile::tempdir().expect("there is room");
        let folder = folder.path();
        prepared(folder, &echo, script);
        let expected = sent_by_curl(folder, &echo);
        assert!(!expected.is_empty(), "{script}");
        let imported = walk::import(folder, &["curl", "script.sh"]);
        if imported.code != Some(0) || imported.stderr.contains("left out") {
            different.push(format!("{script}: {imported:?}"));
            continue;
        }
        let file = std::fs::read_to_string(folder.join("made.hurl")).unwrap_or_default();
        let secrets: Vec<_> =
            SECRETS.iter().copied().filter(|(name, _)| file.contains(&format!("{{{{{name}}}}}"))).collect();
        let sent = walk::once(folder, &echo, &secrets, &[]);
        if sent != expected {
            different.push(format!("{script}\n{file}{sent:#?} instead of {expected:#?}"));
        }
    }
    assert!(different.is_empty(), "{} scripts differ:\n{}", different.len(), different.join("\n"));
}

/// The value of a field of a request.
fn field<'r>(request: &'r Compared, name: &str) -> &'r str {
    let of_name = |(other, _): &&(String, String)| other == name;
    request.fields.iter().find(of_name).map(|(_, value)| value.as_str()).expect("the request has it")
}

#[test]
fn a_signature_of_aws_is_that_of_curl() {
    if !has_curl() {
        return;
    }
    let echo = Echo::start();
    for request in ["URL/", "'URL/dir/file?a=1&b=2'", "-X DELETE URL/a", "-d a=1 -H 'Content-Type: text/plain' URL/b"] {
        let command = format!("--aws-sigv4 aws:amz:eu-west-1:execute-api -u key:sec {request}");
        let folder = tempfile::tempdir().expect("there is room");
        let folder = folder.path();
        prepared(folder, &echo, &format!("curl {command}"));
        let signed = sent_by_curl(folder, &echo);
        // A request that has the time itself is signed for that time.
        let time = field(&signed[0], "x-amz-date");
        prepared(folder, &echo, &format!("curl {command} -H 'X-Amz-Date: {time}'"));
        let imported = walk::import(folder, &["curl", "script.sh"]);
        assert!(imported.code == Some(0) && !imported.stderr.contains("left out"), "{request}: {imported:?}");
        let sent = walk::once(folder, &echo, &[("password", "sec")], &[]);
        assert_eq!(field(&sent[0], "authorization"), field(&signed[0], "authorization"), "{request}: {sent:?}");
    }
}

#[test]
fn what_cannot_be_sent_as_curl_does_is_said_and_still_runs() {
    let echo = Echo::start();
    for (script, said) in SAID {
        let folder = tempfile::tempdir().expect("there is room");
        let folder = folder.path();
        prepared(folder, &echo, script);
        let imported = walk::import(folder, &["curl", "script.sh"]);
        let is_said = imported.stderr.lines().any(|line| line.contains(said));
        assert!(imported.code == Some(0) && is_said, "{script}: {imported:?}");
        // A file that is missing is put beside the hurl file.
        std::fs::write(folder.join("missing.txt"), "x").expect("there is room");
        let sent = walk::once(folder, &echo, &[], &[]);
        let has_credentials = sent.iter().any(|request| request.fields.iter().any(|(name, _)| name == "authorization"));
        assert!(!sent.is_empty() && !has_credentials, "{script}: {sent:?}");
    }
}

#[test]
fn both_spellings_of_quotes_in_cmd_are_read() {
    let echo = Echo::start();
    for (script, content) in [
        (
            "curl \"URL/\" --data-binary \"^{^\\^\"name^\\^\":^\\^\"two words^\\^\",^\\^\"list^\\^\":^[^]^}\" --compressed",
            "{\"name\":\"two words\",\"list\":[]}",
        ),
        (
            "curl \"URL/\" -H \"content-type: application/json\" --data \"{\"\"tag\"\":{\"\"id\"\":5,\"\"text\"\":\"\"x y\"\"}}\"",
            "{\"tag\":{\"id\":5,\"text\":\"x y\"}}",
        ),
        ("curl ^\"URL/^\" ^\n  --data-raw ^\"^{^\\^\"a^\\^\":^\\^\"b ^%^41^\\^\"^}^\"", "{\"a\":\"b %41\"}"),
        ("curl URL/ -d \"\" -H \"X: \\\"a\\\"\"", ""),
    ] {
        let folder = tempfile::tempdir().expect("there is room");
        let folder = folder.path();
        prepared(folder, &echo, script);
        let imported = walk::import(folder, &["curl", "script.sh"]);
        assert_eq!(imported.code, Some(0), "{script}: {imported:?}");
        let sent = walk::once(folder, &echo, &[], &[]);
        assert!(sent.len() == 1 && sent[0].content == content && sent[0].line == "POST /", "{script}: {sent:?}");
    }
}

#[test]
fn a_command_in_quotes_is_a_command_and_no_file() {
    let echo = Echo::start();
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    let command = format!("curl {}/a -H 'X-A: 1' -d '$x'", echo.origin);
    for words in [&["curl", command.as_str()][..], &["curl", "-o", "made.hurl", "--", command.as_str()]] {
        let mut import = torr_test_support::program::torr_command(&[&["import"], words].concat());
        import.current_dir(folder);
        let ended = Running::start(import).wait();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        if ended.stdout.is_empty() {
            let sent = walk::once(folder, &echo, &[], &[]);
            assert!(sent.len() == 1 && sent[0].line == "POST /a" && sent[0].content == "$x", "{sent:?}");
        } else {
            assert!(ended.stdout.starts_with(&format!("POST {}/a\nX-A: 1\n", echo.origin)), "{ended:?}");
        }
    }
}
