//! Settings with which no server can be started, and times beyond every clock.

use crate::support::Running;
use std::io::Read;
use std::time::Duration;
use torr_serve::{App, ProxyProtocol, Response, ServeError, Server, Settings};

type Spoil = fn(&mut Settings);

fn app() -> App {
    App::new().get("/", |_| Response::text("ok"))
}

#[test]
fn invalid_settings_are_reported_before_listening() {
    let cases: [(Spoil, &str); 8] = [
        (|settings| settings.server_name = "a\r\nSet-Cookie: b", "server_name"),
        (|settings| settings.server_name = "töpfer", "server_name"),
        (|settings| settings.proxy_protocol = ProxyProtocol::Required, "trusted_proxies"),
        (|settings| settings.max_headers = 257, "max_headers"),
        (|settings| settings.max_head = 255, "max_head must be 256 or more, found 255"),
        (|settings| settings.max_connections = 0, "max_connections"),
        (|settings| settings.processes = usize::MAX, "processes"),
        (|settings| settings.workers = usize::MAX, "workers"),
    ];
    for (number, (spoil, named)) in cases.into_iter().enumerate() {
        let mut settings = Settings::default();
        spoil(&mut settings);
        match Server::new(app()).settings(settings).bind("127.0.0.1:0") {
            Err(ServeError::Settings(what)) => assert!(what.contains(named) && !what.contains('\n'), "{what}"),
            other => panic!("case {number}: {other:?}"),
        }
    }
}

#[test]
fn an_invalid_address_is_reported_in_words() {
    for (address, words) in [
        ("nowhere", "cannot listen on 'nowhere': invalid socket address"),
        ("127.0.0.1:80000", "cannot listen on '127.0.0.1:80000': invalid port value"),
        ("no-such-host.invalid:80", "cannot listen on 'no-such-host.invalid:80': cannot resolve the name"),
    ] {
        let error = Server::new(app()).bind(address).expect_err(address).to_string();
        assert!(error.starts_with(words) && !error.contains('\n'), "{error}");
    }
    let error = Server::new(app()).bind(("no-such-host.invalid", 80)).expect_err("there is none").to_string();
    assert!(error.contains("no-such-host.invalid"), "{error}");
}

#[test]
fn times_without_end_are_no_trouble() {
    let server = Running::start_with(app(), |settings| {
        for time in [
            &mut settings.idle_timeout,
            &mut settings.head_timeout,
            &mut settings.body_timeout,
            &mut settings.write_timeout,
            &mut settings.stop_timeout,
            &mut settings.stream_stop_timeout,
            &mut settings.task_stop_timeout,
            &mut settings.start_timeout,
        ] {
            *time = Duration::MAX;
        }
    });
    assert_eq!(server.client().get("/").status, 200);
    // Of HTTP/2 a connection that is there when the server leaves.
    let mut client = server.client();
    client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    let mut frame = [0; 9];
    client.sender().read_exact(&mut frame).expect("the server answers");
    assert_eq!(frame[3], 4, "the server's settings: {frame:?}");
    server.stop();
    server.wait().expect("it leaves in order");
}
