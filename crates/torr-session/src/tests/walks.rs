//! Virtual users on a server that exists only in a function.

use crate::hurl::parse;
use crate::query::Received;
use crate::request::Outgoing;
use crate::{Action, Files, Judgement, Session, Value, Variables, Walk};
use std::time::Duration;

/// Files that exist only here.
struct Memory;

impl Files for Memory {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        match name {
            "data.bin" => Ok(vec![0, 255]),
            "logo.png" => Ok(b"PNG".to_vec()),
            other => Err(format!("cannot read '{other}': no such file")),
        }
    }
}

fn session(source: &str) -> Session {
    let file = parse(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    Session::compile(&file, &Memory, []).unwrap_or_else(|error| panic!("{source}: {error}"))
}

/// A response: status, fields, content.
type Reply = (u16, Vec<(&'static str, &'static str)>, &'static str);

/// What happened on a walk: requests as `METHOD URL`, pauses, verdicts.
fn walk(source: &str, variables: &[(&str, Value)], mut server: impl FnMut(&Outgoing) -> Reply) -> Vec<String> {
    let mut session = session(source);
    let mut values = Variables::default();
    for (name, value) in variables {
        values.set(session.names.number(name), value.clone());
    }
    let mut walk = Walk::new(values);
    let mut log = Vec::new();
    loop {
        match walk.next(&session) {
            Action::Send(_) => {
                let request = walk.request().expect("it is to be sent").clone();
                log.push(format!("{} {}", request.method, request.url));
                let (status, fields, content) = server(&request);
                let fields = fields.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
                let received = Received {
                    status,
                    version: "1.1",
                    fields,
                    content: content.as_bytes().into(),
                    ..Received::default()
                };
                match walk.receive(&session, received) {
                    Judgement::Passed => {}
                    Judgement::Redirected => log.push("redirected".to_owned()),
                    Judgement::Retried(unmet) => log.push(format!("retried for {}", unmet[0].expected)),
                    Judgement::Failed(unmet) => {
                        log.extend(
                            unmet
                                .into_iter()
                                .map(|unmet| format!("{}: {}, not {}", unmet.at, unmet.actual, unmet.expected)),
                        );
                    }
                }
            }
            Action::Pause(pause) => log.push(format!("{pause:?}")),
            Action::Finished => return log,
            Action::Failed(entry, error) => {
                log.push(format!("failed at {entry}: {error}"));
                return log;
            }
        }
        assert!(log.len() < 100, "it does not end: {log:?}");
    }
}

/// Fills in the first request of a file, with all variables set to `v`, and `n` to 5.
fn first(source: &str) -> Outgoing {
    let session = session(source);
    let mut variables = Variables::default();
    (0..session.names.len()).for_each(|number| variables.set(number, Value::Text("v".to_owned())));
    session.names.find("n").into_iter().for_each(|number| variables.set(number, Value::Integer(5)));
    let mut walk = Walk::new(variables);
    assert_eq!(walk.next(&session), Action::Send(0), "{source}");
    walk.request().expect("it is to be sent").clone()
}

fn fields(request: &Outgoing) -> Vec<(&str, &str)> {
    request.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

#[test]
fn a_user_logs_in_and_takes_what_the_response_gave_along() {
    let source = "POST http://{{host}}/login\n[Form]\nuser: ann\nHTTP 200\n[Captures]\ncart: jsonpath \"$.cart\"\n\
                  GET http://{{host}}/cart/{{cart}}\n[Cookies]\ntheme: dark\nHTTP 200\nGET http://other/";
    let mut cookies = Vec::new();
    let log = walk(source, &[("host", Value::Text("shop".to_owned()))], |request| {
        cookies.push(request.fields.iter().find(|(name, _)| name == "Cookie").map(|(_, value)| value.clone()));
        (200, vec![("Set-Cookie", "id=7; Path=/")], r#"{"cart": 12}"#)
    });
    assert_eq!(log, ["POST http://shop/login", "GET http://shop/cart/12", "GET http://other/"]);
    assert_eq!(cookies, [None, Some("id=7; theme=dark".to_owned()), None]);
}

#[test]
fn expectations_that_are_not_met_end_the_walk() {
    let unmet = |status_line: &str, capture: &str| {
        let asserts = "[Asserts]\nbody == \"x\"\n`y`\nGET http://b/";
        let source = format!("GET http://a/\n{status_line}\nX-Kind: b\n[Captures]\nc: header \"{capture}\"\n{asserts}");
        let mut log = walk(&source, &[], |_| (200, vec![("x-kind", "a")], "z"));
        assert_eq!(
            (log.remove(0).as_str(), log.pop().as_deref()),
            ("GET http://a/", Some("failed at 0: expectations not met at 1:1"))
        );
        log
    };
    assert_eq!(unmet("HTTP/2 201", "X-None"), ["2:1: HTTP/1.1, not HTTP/2", "2:1: status 200, not status 201"]);
    assert_eq!(unmet("HTTP 200", "X-None"), ["5:1: nothing, not a value for 'c'"]);
    let others = [
        "3:1: X-Kind: a, not X-Kind: b",
        "2:1: string \"z\", not content string \"y\"",
        "7:1: string \"z\", not string \"x\"",
    ];
    assert_eq!(unmet("HTTP 200", "X-Kind"), others);
}

#[test]
fn a_request_is_sent_again_as_often_as_its_entry_says() {
    let source = "GET http://a/\n[Options]\nretry: 2\nretry-interval: 250ms\nHTTP 200\nGET http://b/\nHTTP 200";
    let mut replies = [500, 500, 200, 500].into_iter();
    let log = walk(source, &[], |_| (replies.next().expect("there are enough"), vec![], ""));
    let again = ["retried for status 200", "250ms", "GET http://a/"];
    let expected = [&["GET http://a/"][..], &again, &again, &["GET http://b/", "2:1"]].concat();
    assert_eq!(log[..8], expected[..8]);
    assert_eq!(log[8..], ["7:1: status 500, not status 200", "failed at 1: expectations not met at 6:1"]);
}

#[test]
fn entries_are_delayed_repeated_and_left_out() {
    let source = "GET http://a/\n[Options]\ndelay: 2s\nrepeat: 2\nGET http://b/\n[Options]\nskip: {{skipped}}\n\
                  GET http://c/{{n}}\n[Options]\nvariable: n=5\nrepeat: 0\nGET http://d/{{n}}\n[Options]\ndelay: {{wait}}";
    let values = [("skipped", Value::Boolean(true)), ("wait", Value::Integer(3))];
    let log = walk(source, &values, |_| (200, vec![], ""));
    assert_eq!(log, ["2s", "GET http://a/", "2s", "GET http://a/", "3ms", "GET http://d/5"]);
}

#[test]
fn redirects_are_followed_where_the_entry_says_so() {
    let server = |request: &Outgoing| match request.url.path() {
        "/start" => (302, vec![("Location", "next?x=1"), ("Set-Cookie", "a=b")], ""),
        "/next" => (307, vec![("Location", "//other/end")], ""),
        _ => (200, vec![], ""),
    };
    let source = |options: &str| {
        format!("POST http://a/start\nAuthorization: secret\n[Options]\n{options}\n[Cookies]\nown: 1\n[Form]\nc: d")
    };
    let log = walk(&source("location: true"), &[], server);
    let all = ["POST http://a/start", "redirected", "GET http://a/next?x=1", "redirected", "GET http://other/end"];
    assert_eq!(log, all);
    assert_eq!(walk(&source("location: false"), &[], server), ["POST http://a/start"]);
    let limited = walk(&source("location: true\nmax-redirs: 1"), &[], server);
    assert_eq!(
        limited[3..],
        ["1:1: more than 1 redirects, not a redirect that can be followed", "failed at 0: expectations not met at 1:1"]
    );
    let mut seen = Vec::new();
    walk(&source("location: true"), &[], |request| {
        seen.push((request.fields.clone(), request.content.is_some()));
        server(request)
    });
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(seen[1], (vec![pair("Authorization", "secret"), pair("Cookie", "a=b; own=1")], false));
    assert_eq!(seen[2], (vec![], false), "no credentials for another host");
}

#[test]
fn a_variable_without_a_value_ends_the_walk() {
    let log = walk("GET http://a/{{b}}", &[], |_| (200, vec![], ""));
    assert_eq!(log, ["failed at 0: the variable 'b' at 1:16 has no value"]);
    let log = walk("GET {{b}}", &[("b", Value::Text("ftp://a/".to_owned()))], |_| (200, vec![], ""));
    assert_eq!(log, ["failed at 0: the URL 'ftp://a/' must begin with http:// or https://"]);
}

#[test]
fn requests_are_filled_in_as_the_format_says() {
    let request = first("GET http://h/p?a=1#f\nX-A: {{v}} \n[Query]\nq: é &\n[BasicAuth]\nann: {{v}}");
    assert_eq!(request.url.as_str(), "http://h/p?a=1&q=%C3%A9%20%26");
    assert_eq!(fields(&request), [("X-A", "v"), ("Authorization", "Basic YW5uOnY=")]);
    let content = |source: &str| {
        let request = first(&format!("POST http://h/\n{source}"));
        let media_type = request.fields.iter().find(|(name, _)| name == "Content-Type").map(|(_, value)| value.clone());
        (media_type, request.content.map(|content| String::from_utf8_lossy(&content).into_owned()))
    };
    let of = |media_type: &str, content: &str| (Some(media_type.to_owned()), Some(content.to_owned()));
    assert_eq!(content("{\"a\": {{n}}, \"b\": \"{{v}}\"}"), of("application/json", "{\"a\": 5, \"b\": \"v\"}"));
    assert_eq!(content("Content-Type: text/x\n{}"), of("text/x", "{}"));
    assert_eq!(content("<a/>"), of("application/xml", "<a/>"));
    assert_eq!(content("```json\n[{{v}}]\n```"), of("application/json", "[v]\n"));
    assert_eq!(content("```{{v}}```"), (None, Some("v".to_owned())));
    assert_eq!(content("[Form]\na: é {{v}}"), of("application/x-www-form-urlencoded", "a=%C3%A9%20v"));
    let graphql = "```graphql\n{ a }\nvariables {\"b\": \"{{v}}\"}\n```";
    assert_eq!(content(graphql), of("application/json", "{\"query\":\"{ a }\",\"variables\":{\"b\": \"v\"}}"));
    assert_eq!(first("POST http://h/\nfile,data.bin;").content, Some(vec![0, 255].into()));
    assert_eq!(content(""), (None, None));
}

#[test]
fn multipart_forms_have_their_parts_between_boundaries() {
    let request = first("POST http://h/\n[Multipart]\na: {{v}}\nlogo: file,logo.png;\nraw: file,data.bin; x/y");
    let media_type = request.fields[0].1.clone();
    let boundary = media_type.strip_prefix("multipart/form-data; boundary=").expect("it names a boundary");
    let content = String::from_utf8_lossy(request.content.as_deref().expect("there is content")).into_owned();
    let parts: Vec<_> = content.split(&format!("--{boundary}")).collect();
    assert_eq!(parts.len(), 5, "{content}");
    assert_eq!(parts[1], "\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nv\r\n");
    let logo = "\r\nContent-Disposition: form-data; name=\"logo\"; filename=\"logo.png\"\r\nContent-Type: image/png\r\n\r\nPNG\r\n";
    assert_eq!(parts[2], logo);
    assert!(parts[3].contains("Content-Type: x/y\r\n"), "{content}");
    assert_eq!(parts[4], "--\r\n");
}

#[test]
fn users_share_a_multipart_form_without_placeholders() {
    let sent = |session: &Session| {
        let mut walk = Walk::new(Variables::default());
        assert_eq!(walk.next(session), Action::Send(0));
        walk.request().and_then(|request| request.content.clone()).expect("there is content")
    };
    let constant = session("POST http://h/\n[Multipart]\na: 1\nlogo: file,logo.png;");
    let (one, other) = (sent(&constant), sent(&constant));
    assert_eq!((one.as_ptr(), one.len()), (other.as_ptr(), other.len()));
    assert!(one.ends_with(b"--\r\n") && one.windows(3).any(|part| part == b"PNG"), "{one:?}");
    let varying = session("POST http://h/\n[Multipart]\na: {{newUuid}}\nlogo: file,logo.png;");
    assert_ne!(sent(&varying), sent(&varying));
}

#[test]
fn what_cannot_be_done_is_refused_and_what_has_no_meaning_is_said() {
    let compile = |source: &str| Session::compile(&parse(source).expect("it has no mistake"), &Memory, []);
    let refused = [
        ("GET http://a/\n[Options]\nntlm: true", "3:1: 'ntlm' is not supported"),
        ("POST http://a/\nfile,none.bin;", "1:1: cannot read 'none.bin': no such file"),
        (
            "POST http://a/\nfile,{{a}};",
            "1:1: a file's name must not have placeholders, as files are read before the run",
        ),
        (
            "GET http://a/\nHTTP 200\n[Captures]\na: xpath \"//b[\"",
            "4:1: invalid XPath expression '//b[': unexpected end (character 5)",
        ),
        ("GET http://a/\nHTTP 200\n[Captures]\n{{a}}: body", "4:1: the name of a capture must not have placeholders"),
    ];
    for (source, message) in refused {
        assert_eq!(compile(source).expect_err(source).to_string(), message);
    }
    let session =
        compile("GET http://a/b?c\n[Options]\nverbose: true\noutput: x\n# name: second\nGET {{host}}/d/{{e}}")
            .expect("it works");
    let ignored: Vec<_> = session.ignored.iter().map(|(at, what)| format!("{at}: {what}")).collect();
    let why = "is ignored: it has no effect under load";
    assert_eq!(ignored, [format!("3:1: 'verbose' {why}"), format!("4:1: 'output' {why}")]);
    let names: Vec<_> = session.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["GET /b", "second"]);
}

#[test]
fn pauses_have_the_lengths_of_the_file() {
    let session = session("GET http://a/\n[Options]\ndelay: 1m");
    assert_eq!(Walk::new(Variables::default()).next(&session), Action::Pause(Duration::from_secs(60)));
}

#[test]
fn variables_that_have_no_value_when_they_are_used_are_known_before_the_run() {
    let source = "GET http://{{host}}/{{a}}\n[Options]\nvariable: a={{b}}\nHTTP 200\n[Captures]\nc: body\n[Asserts]\n\
                  body == {{c}}\nvariable \"e\" not exists\nGET http://{{host}}/{{c}}/{{d}}\nHTTP 200\n[Captures]\nd: body";
    let session = Session::compile(&parse(source).expect("it has no mistake"), &Memory, ["host"]).expect("it works");
    let unassigned: Vec<_> = session.names.unassigned().iter().map(|(name, at)| format!("{name} at {at}")).collect();
    assert_eq!(unassigned, ["b at 3:15", "d at 10:29"]);
}
