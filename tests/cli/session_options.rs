//! Options of hurl files that decide where and how requests are sent: what `torr check` passes, `torr once` and a run accept.

use std::fs;
use torr_test_support::program::{Ended, Running, torr_command};
use torr_test_support::script::{Client, OK, Script};

fn server() -> Script {
    Script::start(|client: &mut Client| {
        while client.request().is_some() {
            client.send(OK);
        }
    })
}

/// Runs one of the commands `check`, `once` and the run itself with a file.
fn run(command: &str, source: &str, args: &[&str]) -> Ended {
    let folder = tempfile::tempdir().expect("there is room");
    fs::write(folder.path().join("a.hurl"), source).expect("there is room");
    let words: &[&str] = match command {
        "run" => &["a.hurl", "-c1", "-n1"],
        other => &[other, "a.hurl"],
    };
    let mut command = torr_command(&[words, args].concat());
    command.current_dir(folder.path());
    Running::start(command).wait()
}

/// Returns the first lines of the requests that a file makes `torr once` send, with what all three commands say of it.
fn sent(server: &Script, source: &str, args: &[&str]) -> Vec<String> {
    let before = server.texts().len();
    for command in ["check", "once", "run"] {
        let ended = run(command, source, args);
        assert_eq!(ended.code, Some(0), "{command}: {source}: {ended:?}");
    }
    let texts = server.texts().split_off(before);
    let lines: Vec<_> = texts.iter().map(|text| text.lines().next().unwrap_or_default().to_owned()).collect();
    assert_eq!(lines[..lines.len() / 2], lines[lines.len() / 2..], "'once' and a run send the same");
    lines[..lines.len() / 2].to_vec()
}

#[test]
fn a_path_is_sent_as_it_is() {
    let server = server();
    let address = server.address;
    let of = |path: &str, option: &str| {
        sent(&server, &format!("GET http://{address}{path}\n[Options]\n{option}\nHTTP 200\n"), &[]).remove(0)
    };
    assert_eq!(of("/a/../b?c/../d", "path-as-is: true"), "GET /a/../b?c/../d HTTP/1.1");
    assert_eq!(of("/./a/%2e%2E/b//c#d", "path-as-is: true"), "GET /./a/%2e%2E/b//c HTTP/1.1");
    assert_eq!(of("", "path-as-is: true"), "GET / HTTP/1.1");
    assert_eq!(of("/a/../b", "path-as-is: false"), "GET /b HTTP/1.1");
    assert_eq!(of("/a/../b", "http1.0: true"), "GET /b HTTP/1.0");
    let file = format!(
        "GET http://{address}/a/../{{{{name}}}}\n[Options]\npath-as-is: {{{{as_is}}}}\n[Query]\nq: é\nHTTP 200\n"
    );
    let lines = sent(&server, &file, &["--variable", "name=x y", "--variable", "as_is=true"]);
    assert_eq!(lines, ["GET /a/../x%20y?q=%C3%A9 HTTP/1.1"]);
}

#[test]
fn numbers_keep_their_digits() {
    let server = server();
    let file = format!("GET http://{}/{{{{n}}}}\nHTTP 200\n", server.address);
    for (given, path) in [
        ("18446744073709551615", "18446744073709551615"),
        ("9223372036854775808", "9223372036854775808"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("1.10", "1.1"),
        (".5", "0.5"),
        ("+5", "5"),
    ] {
        let lines = sent(&server, &file, &["--variable", &format!("n={given}")]);
        assert_eq!(lines, [format!("GET /{path} HTTP/1.1")]);
    }
}

#[test]
fn connections_go_where_options_say() {
    let server = server();
    let port = server.address.port();
    for options in [
        format!("connect-to: a.test:80:127.0.0.1:{port}"),
        format!("connect-to: ::127.0.0.1:{port}"),
        format!(
            "variable: port={port}\nresolve: a.test:80:192.0.2.1\nconnect-to: a.test:80:localhost:{{{{port}}}}\nipv4: true"
        ),
    ] {
        let lines = sent(&server, &format!("GET http://a.test/x\n[Options]\n{options}\nHTTP 200\n"), &[]);
        assert_eq!(lines, ["GET /x HTTP/1.1"], "{options}");
        assert!(server.texts().last().is_some_and(|text| text.contains("\r\nHost: a.test\r\n")), "{options}");
    }
    let resolved = format!(
        "GET http://a.test:{port}/\n[Options]\nvariable: port={port}\nresolve: a.test:{{{{port}}}}:127.0.0.1\nHTTP 200\n"
    );
    assert_eq!(sent(&server, &resolved, &[]), ["GET / HTTP/1.1"]);
}

#[test]
fn what_a_run_refuses_check_refuses_in_the_same_words() {
    let server = server();
    let url = server.url();
    let with = |option: &str| format!("GET {url}\n[Options]\n{option}\nHTTP 200\n");
    let two = |one: &str, other: &str| format!("{}{}", with(one), with(other));
    let captured = format!("GET {url}\nHTTP 200\n[Captures]\np: status\n{}", with("proxy: 127.0.0.1:{{p}}"));
    for (source, what) in [
        (
            "GET 127.0.0.1:9/x\nHTTP 200\n".to_owned(),
            "1:1: missing scheme in the URL '127.0.0.1:9/x': use http://127.0.0.1:9/x",
        ),
        ("GET example.com/{{n}}\nHTTP 200\n".to_owned(), "missing scheme"),
        ("GET {{base}}/x\nHTTP 200\n".to_owned(), "1:1: missing scheme in the URL 'h:1/x': use http://h:1/x"),
        ("GET ftp://h/\nHTTP 200\n".to_owned(), "must begin with http://"),
        (with("connect-to: a:b"), "3:1: 'connect-to' must be HOST1:PORT1:HOST2:PORT2"),
        (with("resolve: a"), "3:1: 'resolve' must be HOST:PORT:ADDRESS"),
        (with("cacert: no-such.pem").replace("http://", "https://"), "no-such.pem"),
        (with("http2: true"), "http2"),
        (with("proxy: x"), "must be http://HOST:PORT"),
        (with("ntlm: true"), "3:1: 'ntlm' is not supported"),
        (two("insecure: true", "insecure: false"), "it applies to the whole run"),
        (two("http2-prior-knowledge: true", "http1.1: true"), "one protocol applies to the whole run"),
        (two("http1.1: true", "http2-prior-knowledge: true"), "one protocol applies to the whole run"),
        (captured, "the variable 'p'"),
    ] {
        let lines = ["check", "once", "run"].map(|command| {
            let ended = run(command, &source, &["--variable", "base=h:1", "--variable", "n=1"]);
            assert_eq!(ended.code, Some(2), "{command}: {source}: {ended:?}");
            assert!(ended.stderr.contains(what), "{command}: {source}: {ended:?}");
            ended.stderr
        });
        assert!(lines.iter().all(|line| *line == lines[0]), "{lines:?}");
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn no_option_is_passed_over_in_silence() {
    let server = server();
    let url = server.url();
    let with = |option: &str| format!("GET {url}\n[Options]\n{option}\nHTTP 200\n");
    let plain = format!("GET {url}\nHTTP 200\n");
    for (source, said) in [
        (with("max-time: 2s"), "3:1: 'max-time' is ignored: use --timeout instead, which limits every request"),
        (with("connect-timeout: 500ms").repeat(3), "3:1: 'connect-timeout' is ignored: use --timeout instead"),
        (with("output: x"), "3:1: 'output' is ignored: it has no effect under load"),
        (with("insecure: true") + &plain, "3:1: 'insecure' applies to the whole run, also to requests without it"),
        (plain.clone() + &with("ipv4: true"), "5:1: 'ipv4' applies to the whole run"),
        (with("insecure: false") + &plain, ""),
        (with("insecure: true").repeat(2), ""),
        (with("resolve: h:80:127.0.0.1") + &plain, ""),
        (with("http1.1: true") + &plain, ""),
    ] {
        for command in ["check", "once", "run"] {
            let ended = run(command, &source, &[]);
            assert_eq!(ended.code, Some(0), "{command}: {source}: {ended:?}");
            let lines = ended.stderr.lines().filter(|line| line.starts_with("torr: ")).collect::<Vec<_>>();
            assert_eq!(lines.len(), usize::from(!said.is_empty()), "{command}: {source}: {lines:?}");
            assert!(lines.iter().all(|line| line.contains(said)), "{command}: {source}: {lines:?}");
        }
    }
}

#[test]
fn filters_for_lists_take_what_an_expression_found_once() {
    let server = Script::start(|client: &mut Client| {
        while client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 56\r\n\r\n{\"items\":[{\"id\":1,\"stock\":1},{\"id\":2,\"stock\":0}],\"a\":[]}");
        }
    });
    let file = format!(
        "GET {}\nHTTP 200\n[Captures]\nid: jsonpath \"$.items[?(@.stock > 0)].id\" nth 0\n[Asserts]\n\
         variable \"id\" == 1\n\
         jsonpath \"$.items[?(@.stock > 0)].id\" nth -1 == 1\n\
         jsonpath \"$.items[?(@.stock > 0)].id\" first == 1\n\
         jsonpath \"$.items[0:1].id\" last == 1\n\
         jsonpath \"$..stock\" nth 0 == 1\n\
         jsonpath \"$.items[?(@.stock > 0)].id\" count == 1\n\
         jsonpath \"$.items[?(@.stock > 5)].id\" count == 0\n\
         jsonpath \"$.items[?(@.stock > 0)].id\" == 1\n\
         jsonpath \"$['items']\" count == 2\n\
         jsonpath \"$.items\" nth 1 jsonpath \"$.id\" == 2 # fails: no text\n",
        server.url()
    );
    let ended =
        run("once", &file.replace("jsonpath \"$.items\" nth 1 jsonpath \"$.id\" == 2 # fails: no text\n", ""), &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let ended = run("once", &file.replace("$.items[0:1].id", "$.items[0].id"), &[]);
    assert!(ended.stdout.contains("the filter last does not support integer 1"), "{ended:?}");
}
