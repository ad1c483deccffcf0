//! `torr import`: a hurl file on standard output or in a file, what was left out on standard error.

use torr_test_support::program::{Running, torr_command};

#[test]
fn a_curl_command_becomes_a_hurl_file_that_checks() {
    let folder = tempfile::tempdir().expect("there is room");
    let copied = "curl 'https://shop.example/login' \\\n  -H 'Authorization: Bearer geheim' \\\n  --compressed --ntlm \\\n  --data-raw 'user=ann'\n";
    std::fs::write(folder.path().join("copied.txt"), copied).expect("there is room");
    let run = |args: &[&str]| {
        let mut command = torr_command(args);
        command.current_dir(folder.path());
        Running::start(command).wait()
    };
    let file = "# left out: --ntlm (this authentication scheme is not supported)\nPOST https://shop.example/login\n\
                Authorization: Bearer {{authorization}}\n[Options]\ncompressed: true\n[Form]\nuser: ann\n";
    let printed = run(&["import", "curl", "copied.txt"]);
    assert_eq!((printed.code, printed.stdout.as_str()), (Some(0), file), "{printed:?}");
    let said: Vec<_> = printed.stderr.lines().collect();
    assert_eq!(said.len(), 3, "{printed:?}");
    assert_eq!(said[0], "torr: 1 request");
    assert!(said[1].contains("HURL_VARIABLE_authorization") && !printed.stderr.contains("geheim"), "{printed:?}");
    assert!(said[2].contains("left out: --ntlm, 1 time"), "{printed:?}");

    let written = run(&["import", "curl", "copied.txt", "-o", "login.hurl"]);
    assert_eq!((written.code, written.stdout.as_str()), (Some(0), ""), "{written:?}");
    assert!(written.stderr.ends_with("next: torr once login.hurl\n"), "{written:?}");
    assert_eq!(std::fs::read_to_string(folder.path().join("login.hurl")).expect("it was written"), file);
    let checked = run(&["check", "login.hurl", "--secret", "authorization=geheim"]);
    assert_eq!(
        (checked.code, checked.stdout.as_str()),
        (Some(0), "login.hurl: 1 request, no mistakes\n"),
        "{checked:?}"
    );
}

#[test]
fn a_command_stands_behind_two_hyphens_too() {
    let ended = Running::start(torr_command(&["import", "curl", "--", "curl", "http://a/", "-d", "a=b c"])).wait();
    let file = "POST http://a/\nContent-Type: application/x-www-form-urlencoded\n```a=b c```\n";
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), file), "{ended:?}");
}

#[test]
fn what_is_no_command_is_refused_in_one_line() {
    for (args, message) in [
        (&["import", "curl", "/no/such/file"][..], "cannot read a curl command from '/no/such/file'"),
        (&["import", "curl", "--", "wget", "http://a/"], "'wget' is not a curl command"),
        (&["import"], "<COMMAND>"),
        (&["import", "wget"], "wget"),
    ] {
        let ended = Running::start(torr_command(args)).wait();
        assert!(
            ended.code == Some(2) && ended.stdout.is_empty() && ended.stderr.contains(message),
            "{args:?}: {ended:?}"
        );
    }
}

#[test]
fn a_recording_becomes_a_hurl_file_that_checks() {
    let folder = tempfile::tempdir().expect("there is room");
    let entry = |second: u8, url: &str, text: &str| {
        serde_json::json!({
            "startedDateTime": format!("2026-11-22T10:00:0{second}.000Z"), "time": 20.0,
            "request": {"method": "GET", "url": url, "headers": []},
            "response": {"status": 200, "headers": [], "content": {"mimeType": "application/json", "text": text}},
        })
    };
    let entries = [
        entry(1, "http://a/login", "{\"token\": \"0123456789abcdef\"}"),
        entry(2, "http://a/me/0123456789abcdef", "{}"),
        entry(3, "http://b/", ""),
    ];
    let recording = serde_json::json!({"log": {"version": "1.2", "entries": entries}}).to_string();
    std::fs::write(folder.path().join("a.har"), recording).expect("there is room");
    let run = |args: &[&str]| {
        let mut command = torr_command(args);
        command.current_dir(folder.path());
        Running::start(command).wait()
    };
    let ended = run(&["import", "har", "a.har", "-o", "a.hurl"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for line in [
        "2 requests",
        "captured: 'token' from $.token of response 1, sent again by request 2",
        "left out: requests to b, 1 time",
    ] {
        assert!(ended.stderr.contains(line), "{line}: {ended:?}");
    }
    let expected = "GET http://a/login\nHTTP 200\n[Captures]\ntoken: jsonpath \"$.token\"\n\n\
                    GET http://a/me/{{token}}\n[Options]\ndelay: 980ms\nHTTP 200\n";
    assert_eq!(std::fs::read_to_string(folder.path().join("a.hurl")).expect("it was written"), expected);
    assert_eq!(run(&["check", "a.hurl"]).stdout, "a.hurl: 2 requests, no mistakes\n");
    let all = run(&["import", "har", "a.har", "--all"]);
    assert!(all.code == Some(0) && all.stdout.contains("GET http://b/"), "{all:?}");
}
