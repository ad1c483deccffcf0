//! Servers at their worst: nothing hangs, nothing is lost, and what went wrong has its name.

use serde_json::Value;
use std::io::Write;
use std::net::TcpListener;
use std::time::{Duration, Instant};
use torr_test_support::program::{Running, torr, torr_command, torr_json, torr_path};
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{Client, OK, Script};
use torr_test_support::wait_until;

fn press(script: impl Fn(&mut Client) + Send + Sync + 'static, args: &[&str]) -> Value {
    let server = Script::start(script);
    let result = torr_json(&[args, &["-t", "1", &server.url()]].concat());
    adds_up(&result);
    result
}

/// Makes the kernel send a reset instead of an orderly end.
fn reset(client: &Client) {
    socket2::SockRef::from(&client.stream).set_linger(Some(Duration::ZERO)).expect("a socket takes options");
}

#[test]
fn resets_are_read_errors_wherever_they_come() {
    for sent in ["", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"] {
        let script = move |client: &mut Client| {
            if client.request().is_some() {
                client.send(sent.as_bytes());
                reset(client);
            }
        };
        let result = press(script, &["-n", "12", "-c", "3"]);
        assert_eq!(count(&result, "/errors/read"), 12, "{sent:?}: {result}");
        assert_eq!(result["causes"][0]["side"], "server", "{sent:?}: {result}");
    }
}

#[test]
fn garbage_of_any_kind_is_a_protocol_error() {
    let long = [b"HTTP/1.1 200 OK\r\n".to_vec(), b"X: y\r\n".repeat(20_000)].concat();
    let one_line = [b"HTTP/1.1 200 OK\r\nX: ".to_vec(), vec![b'y'; 100_000]].concat();
    let cases = [
        ("binary", b"\x00\x01\x02\xff\xfe\r\n\r\n".to_vec()),
        ("another protocol", b"220 mail.test ESMTP\r\n".to_vec()),
        ("HTTP/2", b"HTTP/2 200\r\n\r\n".to_vec()),
        ("endless headers", long),
        ("one endless header", one_line),
        ("a negative length", b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n".to_vec()),
        ("two lengths", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!".to_vec()),
        ("a length that is too small", b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhello".to_vec()),
        ("a bad chunk size", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5z\r\nhello\r\n0\r\n\r\n".to_vec()),
        (
            "a chunk without end",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!!\r\n0\r\n\r\n".to_vec(),
        ),
    ];
    for (what, response) in cases {
        let script = move |client: &mut Client| {
            while client.request().is_some() {
                client.send(&response);
            }
        };
        let result = press(script, &["-n", "6", "-c", "2"]);
        assert_eq!(count(&result, "/errors/protocol"), 6, "{what}: {result}");
        assert!(result["verdict"]["factor"] == "errors", "{what}: {result}");
    }
}

#[test]
fn a_length_that_is_too_large_is_noticed_when_the_server_ends_or_never() {
    let ends = |client: &mut Client| {
        if client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello");
        }
    };
    let result = press(ends, &["-n", "6", "-c", "2"]);
    assert_eq!(count(&result, "/errors/read"), 6, "{result}");
    let waits = |client: &mut Client| {
        while client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello");
        }
    };
    let result = press(waits, &["-n", "4", "-c", "2", "--timeout", "300ms"]);
    assert_eq!(count(&result, "/errors/timeout"), 4, "{result}");
}

#[test]
fn a_reused_connection_may_end_before_the_next_response() {
    let script = |client: &mut Client| {
        for _ in 0..3 {
            if client.request().is_none() {
                return;
            }
            client.send(OK);
        }
        // The fourth request is read, and never answered.
        client.request();
    };
    let result = press(script, &["-n", "40", "-c", "1"]);
    assert_eq!((count(&result, "/requests"), count(&result, "/errors/read")), (30, 10), "{result}");
    assert_eq!(result["causes"][0]["what"], "the server closed the connection before responding", "{result}");
}

#[test]
fn a_server_that_accepts_and_says_nothing_is_timed_out() {
    let result = press(|client| while client.request().is_some() {}, &["-n", "6", "-c", "3", "--timeout", "200ms"]);
    assert_eq!(count(&result, "/errors/timeout"), 6, "{result}");
    // The values of a bucket of the histogram are within 0.1% of each other, and the least of them is shown.
    assert!(count(&result, "/latency_us/min") >= 199_800, "each is in the histogram at its age: {result}");
}

#[test]
fn a_run_without_a_response_is_a_failure() {
    let silent = Script::start(|client| while client.request().is_some() {});
    // Long enough that all requests are sent on a machine whose CPUs have other work.
    let ended = torr(&["-d", "2s", "-c", "3", "-t", "1", "-q", &silent.url()]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.stderr, "torr: no request got a response: 3 unfinished when the run ended\n");
    assert!(
        ended.stdout.contains("all 3 requests without a response, unfinished when the run ended"),
        "{}",
        ended.stdout
    );
    let folder = tempfile::tempdir().expect("there is room");
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("there is room");
        path.to_str().expect("it is text").to_owned()
    };
    let hurl = path("a.hurl", &format!("GET {}\nHTTP 200\n", silent.url()));
    let lua = path("a.lua", &format!("target = \"{}\"\nfunction session(user) http.get(\"/\") end\n", silent.url()));
    // No handshake of TLS comes to an end.
    let secured = silent.url().replace("http:", "https:");
    for target in [hurl, lua, secured] {
        let ended = torr(&["-d", "2s", "-c", "2", "-t", "1", "-q", &target]);
        assert_eq!(ended.code, Some(1), "{target}: {ended:?}");
        assert!(ended.stderr.contains("torr: no request got a response: 2 unfinished"), "{target}: {ended:?}");
        assert!(ended.stdout.contains("without a response"), "{target}: {ended:?}");
    }
}

#[test]
fn a_byte_at_a_time_is_slow_but_not_wrong() {
    let script = |client: &mut Client| {
        while client.request().is_some() {
            for byte in OK {
                // Not synchronisation: this is how slow the server is.
                std::thread::sleep(Duration::from_millis(10));
                client.send(&[*byte]);
            }
        }
    };
    let result = press(script, &["-n", "4", "-c", "2", "--timeout", "5s"]);
    assert_eq!(count(&result, "/requests"), 4, "{result}");
    assert!(count(&result, "/latency_us/min") > 10_000 * OK.len() as u64 / 2, "{result}");
    assert!(count(&result, "/phases_us/first_byte/min") < count(&result, "/latency_us/min"), "{result}");
    // Such a response never ends.
    let script = |client: &mut Client| {
        while client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            while client.stream.write_all(b"1\r\nx\r\n").is_ok() {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    };
    let result = press(script, &["-n", "4", "-c", "2", "--timeout", "100ms"]);
    assert_eq!(count(&result, "/errors/timeout"), 4, "bytes that trickle in do not put a time-out off: {result}");
}

#[test]
fn an_interruption_at_any_time_gives_a_report_that_adds_up() {
    type Behave = fn(&mut Client);
    let scripts: [(&str, Behave); 3] = [
        ("no answer", |client| while client.request().is_some() {}),
        ("half an answer", |client| {
            while client.request().is_some() {
                client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello");
            }
        }),
        ("an end each time", |client| {
            client.request();
        }),
    ];
    for (what, script) in scripts {
        let server = Script::start(script);
        let run = Running::start(torr_command(&["-d", "100s", "-c", "3", "--json", "-", &server.url()]));
        wait_until("a request", || (server.requests() > 0).then_some(()));
        run.signal("INT");
        let ended = run.wait();
        assert_eq!(ended.code, Some(130), "{what}: {ended:?}");
        let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
        adds_up(&result);
        assert!(count(&result, "/asked") > 0, "{what}: {result}");
    }
    // Before there is any connection: nothing accepts, and the queue is full.
    let full = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("http://{}/", full.local_addr().expect("it is bound"));
    let run = Running::start(torr_command(&["-d", "100s", "-c", "500", &url]));
    wait_until("torr to connect", || {
        std::fs::read_dir(format!("/proc/{}/fd", run.pid())).ok().and_then(|files| (files.count() > 100).then_some(()))
    });
    run.signal("INT");
    let ended = run.wait();
    assert_eq!(ended.code, Some(130), "{ended:?}");
}

#[test]
fn the_limit_of_files_is_raised_by_itself() {
    let server = torr_test_support::servers::Serve::start(&["--workers", "1"]);
    let script = "ulimit -S -n 256; exec \"$0\" \"$@\"";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script, torr_path(), "-c", "2000", "-n", "10000", "--json", "-", &server.url("/")]);
    let ended = Running::start(shell).wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    adds_up(&result);
    assert_eq!((count(&result, "/requests"), count(&result, "/connections/peak")), (10_000, 2_000), "{result}");
}

#[test]
fn requests_that_meet_the_close_of_an_idle_connection_are_named_and_counted_apart() {
    // The second request arrives before the server closes, and stays unread: the kernel sends a reset.
    let idle = |client: &mut Client| {
        if client.request().is_some() {
            client.send(OK);
            let _ = client.stream.peek(&mut [0]);
        }
    };
    let args = ["--think", "200ms", "-c", "1", "-n", "6"];
    let result = press(idle, &args);
    assert_eq!((count(&result, "/requests"), count(&result, "/errors/read")), (3, 3), "{result}");
    assert_eq!(result["causes"][0]["what"], "the server closed the idle connection", "{result}");
    assert_eq!(count(&result, "/connections/idle_closes/requests"), 3, "{result}");
    let shortest = count(&result, "/connections/idle_closes/shortest_ms");
    assert!(shortest >= 150, "each request comes 200 ms after a response: {result}");
    let server = Script::start(idle);
    let shown = torr(&[&args[..], &["-t", "1", &server.url()]].concat()).stdout;
    assert!(shown.contains("the server closes idle connections after "), "{shown}");
    // Beside the errors, and as evidence of the verdict.
    assert_eq!(shown.matches("; 3 requests were sent during such a close").count(), 2, "{shown}");
    assert!(shown.contains("raise the server's keep-alive time-out above the pauses between requests"), "{shown}");
    // A server that has read the request refuses it.
    let refuses = |client: &mut Client| {
        if client.request().is_some() {
            client.send(OK);
            client.request();
        }
    };
    let result = press(refuses, &args);
    assert_eq!(result["causes"][0]["what"], "the server closed the connection before responding", "{result}");
    assert_eq!(result.pointer("/connections/idle_closes"), None, "{result}");
    // That a connection in use is not idle stands in tests/measured/connections.rs.
}

#[test]
fn control_characters_in_values_are_taken_as_curl_takes_them() {
    for byte in (1..=0x1f_u8).chain([0x7f, 0x80, 0xff]).filter(|&byte| byte != b'\n') {
        let response =
            [&b"HTTP/1.1 200 OK\r\nSet-Cookie: v=a"[..], &[byte], b"b\r\nContent-Length: 2\r\n\r\nok"].concat();
        let script = move |client: &mut Client| {
            while client.request().is_some() {
                client.send(&response);
            }
        };
        let result = press(script, &["-n", "4", "-c", "2"]);
        assert_eq!(count(&result, "/status/200"), 4, "{byte:#04x}: {result}");
    }
}

#[test]
fn too_many_fields_are_counted_in_the_error() {
    let response = [b"HTTP/1.1 200 OK\r\n".to_vec(), b"X: y\r\n".repeat(300), b"\r\n".to_vec()].concat();
    let script = move |client: &mut Client| {
        while client.request().is_some() {
            client.send(&response);
        }
    };
    let result = press(script, &["-n", "4", "-c", "2"]);
    assert_eq!(result["causes"][0]["what"], "too many header fields (300, limit 256)", "{result}");
}

#[test]
fn a_rate_beyond_reach_costs_neither_the_end_of_a_run_nor_a_signal() {
    let server = Script::start(|client| while client.request().is_some() {});
    let began = Instant::now();
    let result = torr_json(&["-r", "1e9", "-d", "1s", "-c", "1", "-t", "1", &server.url()]);
    adds_up(&result);
    let unfinished = count(&result, "/unfinished");
    assert!(unfinished.abs_diff(1_000_000_000) < 20_000_000, "{unfinished} of a billion requests: {result}");
    assert!(began.elapsed() < Duration::from_secs(15), "{:?} for one second", began.elapsed());
    for signal in ["INT", "TERM"] {
        let silent = Script::start(|client| while client.request().is_some() {});
        let load = Running::start(torr_command(&["-r", "1e9", "-d", "1h", "-c", "1", "-t", "1", &silent.url()]));
        wait_until("a request", || (silent.requests() > 0).then_some(()));
        let sent = Instant::now();
        load.signal(signal);
        let ended = load.wait();
        assert_eq!(ended.code, Some(130), "{signal}: {ended:?}");
        assert!(sent.elapsed() < Duration::from_secs(15), "{signal}: {:?}", sent.elapsed());
    }
}
