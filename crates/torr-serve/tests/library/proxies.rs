//! Who a request is from, where proxies stand between: by fields, and by the PROXY protocol.

use crate::support::{PATIENCE, Running};
use axum::extract::{ConnectInfo, Request};
use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::time::{Duration, Instant};
use torr_serve::{App, ForwardedField, Origin, Peer, ProxyProtocol, RequestId, Response, Server, Settings};
use torr_test_support::client::{Client, get};

/// An application that responds with the client that handlers see: `/own` a controller, `/soon` an async handler, `/pool` a
/// blocking one, all else a router.
fn app() -> App {
    fn described(peer: Option<SocketAddr>, origin: Option<&Origin>, id: Option<&RequestId>) -> String {
        let origin = origin.map(|origin| {
            let proxy = origin.proxy.map(|proxy| proxy.ip().to_string());
            format!("{} {:?} {}", proxy.unwrap_or_default(), origin.scheme, origin.host.clone().unwrap_or_default())
        });
        let peer = peer.map(|peer| peer.ip().to_string()).unwrap_or_default();
        format!("{peer}|{}|{}", origin.unwrap_or_default(), id.map(ToString::to_string).unwrap_or_default())
    }
    let own = |request: &torr_serve::Request<'_>| described(request.peer(), request.origin(), request.id());
    let router =
        axum::Router::new().fallback(|ConnectInfo(info): ConnectInfo<SocketAddr>, request: Request| async move {
            let extensions = request.extensions();
            let peer = extensions.get::<Peer>().map(|peer| peer.0);
            assert_eq!(peer, Some(info), "both forms tell the same");
            described(peer, extensions.get::<Arc<Origin>>().map(|origin| &**origin), extensions.get())
        });
    App::new()
        .get("/own", move |request| Response::ok("a/b", own(request).into_bytes()))
        .get_async("/soon", move |request| {
            let described = own(request);
            async move {
                tokio::task::yield_now().await;
                Response::ok("a/b", described.into_bytes())
            }
        })
        .get_blocking("/pool", move |request| Response::ok("a/b", own(request).into_bytes()))
        .router(router)
        .peer_as(ConnectInfo::<SocketAddr>)
        .peer_as(Peer)
}

fn trusting(who: &'static str, more: impl FnOnce(&mut Settings)) -> Running {
    Running::start_with(app(), |settings| {
        settings.trusted_proxies = who.parse().expect("it names proxies");
        more(settings);
    })
}

const PATHS: [&str; 4] = ["/own", "/soon", "/pool", "/router"];

/// Returns the client that a handler sees for a request with these fields.
fn described(client: &mut Client, path: &str, fields: &str) -> String {
    client.send(format!("GET {path} HTTP/1.1\r\nHost: own.test\r\n{fields}\r\n"));
    client.response().text().to_owned()
}

#[test]
fn only_trusted_proxies_are_believed() {
    let forged = "X-Forwarded-For: 203.0.113.1\r\nX-Forwarded-For: 198.51.100.7, 10.0.0.1\r\n\
        X-Forwarded-Proto: https\r\nX-Forwarded-Host: shop.test\r\nForwarded: for=192.0.2.99\r\nX-Real-IP: 192.0.2.98\r\n";
    for (trusted, expected) in [
        ("127.0.0.1, 10.0.0.0/8", "198.51.100.7|127.0.0.1 Some(Https) shop.test|"),
        ("loopback", "10.0.0.1|127.0.0.1 Some(Https) shop.test|"),
        ("loopback, 10.0.0.1, 198.51.100.0/24, 203.0.113.1", "203.0.113.1|127.0.0.1 Some(Https) shop.test|"),
        ("10.0.0.0/8", "127.0.0.1||"),
    ] {
        let server = trusting(trusted, |_| {});
        let mut client = server.client();
        for path in PATHS {
            assert_eq!(described(&mut client, path, forged), expected, "{trusted}: {path}");
            // The next request of the same proxy is of another client.
            let other = described(&mut client, path, "X-Forwarded-For: 192.0.2.1\r\n");
            assert_eq!(other.starts_with("192.0.2.1|127.0.0.1 None |"), trusted != "10.0.0.0/8", "{trusted}: {other}");
        }
    }
    let server = Running::start(app());
    for path in PATHS {
        assert_eq!(described(&mut server.client(), path, forged), "127.0.0.1||", "{path}");
    }
}

#[test]
fn only_the_field_that_is_set_is_looked_at() {
    let all = "X-Forwarded-For: 192.0.2.1\r\nForwarded: for=192.0.2.2;proto=https\r\nX-Real-IP: 192.0.2.3\r\n";
    for (field, client) in [
        (ForwardedField::XForwardedFor, "192.0.2.1|"),
        (ForwardedField::Forwarded, "192.0.2.2|"),
        (ForwardedField::XRealIp, "192.0.2.3|"),
    ] {
        let server = trusting("loopback", |settings| settings.forwarded_field = field);
        for path in PATHS {
            let described = described(&mut server.client(), path, all);
            assert!(described.starts_with(client), "{field:?} {path}: {described}");
        }
    }
}

#[test]
fn ids_are_unique_sent_to_the_client_and_taken_from_trusted_proxies_only() {
    for trusted in [true, false] {
        let who = if trusted { "loopback" } else { "10.0.0.0/8" };
        let server = trusting(who, |settings| settings.request_ids = true);
        let (mut client, mut seen) = (server.client(), HashSet::new());
        for round in 0..100 {
            for path in PATHS {
                client.send(get(path));
                let response = client.response();
                let id = response.field("X-Request-Id").expect("it is told").to_owned();
                assert!(id.len() == 32 && response.text().ends_with(&format!("|{id}")), "{path}: {response:?}");
                assert!(seen.insert(id), "{round}: {response:?} comes twice");
            }
        }
        for path in PATHS {
            client.send(format!("GET {path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: given-{trusted}\r\n\r\n"));
            let response = client.response();
            let is_given = response.field("X-Request-Id") == Some("given-true");
            assert_eq!(is_given, trusted, "{path}: {response:?}");
            assert_eq!(response.text().ends_with("|given-true"), trusted, "{path}: {response:?}");
        }
        // Also where there was no handler, and a field of the handler's own stands.
        client.send("DELETE /own HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(client.response().field("X-Request-Id").is_some());
    }
}

fn required() -> Running {
    trusting("127.0.0.1", |settings| {
        settings.proxy_protocol = ProxyProtocol::Required;
        settings.head_timeout = Duration::from_millis(1500);
        settings.idle_timeout = Duration::from_secs(600);
        settings.defer_accept = false;
    })
}

/// A header of version 2: its command, family, addresses, and what stands behind them.
fn version_2(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
    let length = u16::try_from(rest.len()).expect("it is short").to_be_bytes();
    [b"\r\n\r\n\0\r\nQUIT\n", &[0x20 | command, family][..], &length, rest].concat()
}

#[test]
fn a_header_of_either_version_tells_the_client_however_it_is_split() {
    const PROXY_ITSELF: &str = "127.0.0.1|127.0.0.1 ";
    let server = required();
    let ip_4 = [192, 0, 2, 1, 192, 0, 2, 2, 0x12, 0x67, 0, 80];
    let ip_6: Vec<u8> = [[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9]; 2]
        .concat()
        .into_iter()
        .chain([0, 1, 0, 2])
        .collect();
    // An extension of an unknown kind, which is ignored.
    let longer = [&ip_4[..], &[0xe0, 0, 3, 1, 2, 3]].concat();
    let headers = [
        (b"PROXY TCP4 192.0.2.1 192.0.2.2 4711 80\r\n".to_vec(), "192.0.2.1||"),
        (b"PROXY TCP6 2001:db8::9 2001:db8::1 1 2\r\n".to_vec(), "2001:db8::9||"),
        (b"PROXY UNKNOWN\r\n".to_vec(), "127.0.0.1||"),
        (version_2(1, 0x11, &ip_4), "192.0.2.1||"),
        (version_2(1, 0x21, &ip_6), "2001:db8::9||"),
        (version_2(1, 0x11, &longer), "192.0.2.1||"),
        (version_2(1, 0, &[]), "127.0.0.1||"),
        (version_2(1, 0x31, &[b'/'; 216]), "127.0.0.1||"),
        (version_2(0, 0, &[]), PROXY_ITSELF),
    ];
    for (header, expected) in &headers {
        let all = [header, get("/own").as_bytes()].concat();
        for at in 0..=all.len() {
            let mut client = server.client();
            client.send(&all[..at]);
            client.send(&all[at..]);
            let described = client.response().text().to_owned();
            assert!(described.starts_with(expected), "{} at {at}: {described}", header.escape_ascii());
            // Neither a client that the header tells of is trusted nor one that the proxy does not know, whatever it says.
            client.send("GET /router HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.66\r\n\r\n");
            let described = client.response().text().to_owned();
            let believed = *expected == PROXY_ITSELF;
            let expected = if believed { "203.0.113.66|" } else { expected };
            assert!(described.starts_with(expected), "{}: {described}", header.escape_ascii());
        }
        let mut client = server.client();
        client.send_bytewise(&all);
        assert!(client.response().text().starts_with(expected), "{}", header.escape_ascii());
    }
}

#[test]
fn without_a_sound_header_a_connection_is_closed() {
    let server = required();
    for wrong in [
        get("/own").into_bytes(),
        b"PROXY TCP4 192.0.2.1 192.0.2.2 4711\r\n".to_vec(),
        b"PROXY TCP4 300.0.2.1 192.0.2.2 1 2\r\n".to_vec(),
        [&b"PROXY "[..], &[b'x'; 200]].concat(),
        version_2(1, 0x11, &[1, 2, 3]),
        version_2(7, 0x11, &[0; 12]),
        b"\r\n\r\n\0\r\nQUIT\r".to_vec(),
    ] {
        let mut client = server.client();
        client.send_what_goes(&wrong);
        client.send_what_goes(get("/own").as_bytes());
        assert_eq!(client.count_to_end(), 0, "{}", wrong.escape_ascii());
    }
    // One that does not come, or not to its end.
    let whole = b"PROXY TCP4 192.0.2.1 192.0.2.2 4711 80\r\n";
    for part in [0, 1, 20, whole.len() - 1] {
        let (mut client, start) = (server.client(), Instant::now());
        client.send(&whole[..part]);
        assert_eq!(client.count_to_end(), 0, "{part}");
        assert!(start.elapsed() < PATIENCE, "{part}: {:?}", start.elapsed());
    }
}

#[test]
fn who_is_no_trusted_proxy_is_not_heard() {
    let server = trusting("192.0.2.0/24", |settings| settings.proxy_protocol = ProxyProtocol::Required);
    let mut client = server.client();
    client.send_what_goes(b"PROXY TCP4 192.0.2.1 192.0.2.2 4711 80\r\n");
    client.send_what_goes(get("/own").as_bytes());
    assert_eq!(client.count_to_end(), 0);
}

/// Any user of the machine can connect to a Unix socket, unless its file's permissions say otherwise.
#[test]
fn a_peer_on_a_unix_socket_is_a_proxy_only_if_it_is_named() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for (trusted, expected) in [("10.0.0.0/8", ""), ("10.0.0.0/8, loopback", ""), ("unix, 10.0.0.0/8", "9.9.9.9|")] {
        let path = folder.path().join("socket");
        let _ = std::fs::remove_file(&path);
        let mut settings = Settings::default();
        settings.workers = 1;
        settings.trusted_proxies = trusted.parse().expect("it names proxies");
        settings.proxy_protocol = ProxyProtocol::Required;
        let listener = UnixListener::bind(&path).expect("the folder takes a socket");
        let _server = Running::of(Server::new(app()).settings(settings).on(listener).expect("it listens"));
        let mut stream = UnixStream::connect(&path).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        let forged = "GET /own HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 9.9.9.9\r\nConnection: close\r\n\r\n";
        // The server may have closed it already.
        let _ = stream.write_all(format!("PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n{forged}").as_bytes());
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response);
        let response = String::from_utf8(response).expect("it is text");
        let content = response.split_once("\r\n\r\n").map_or("", |(_, content)| content);
        assert!(content.starts_with(expected) && response.is_empty() == expected.is_empty(), "{trusted}: {response}");
    }
}

#[test]
fn connections_count_for_the_client_that_the_header_tells() {
    let server = trusting("127.0.0.1", |settings| {
        settings.proxy_protocol = ProxyProtocol::Required;
        settings.max_connections_per_address = 2;
    });
    let connect = |address: &str| {
        let mut stream = TcpStream::connect(server.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        let header = format!("PROXY TCP4 {address} 192.0.2.2 4711 80\r\n{}", get("/own"));
        stream.write_all(header.as_bytes()).expect("the server takes it");
        let mut first = [0; 12];
        (stream.read_exact(&mut first).is_ok(), stream)
    };
    let mut held = Vec::new();
    for address in ["192.0.2.1", "192.0.2.9"] {
        for fits in [true, true, false, false] {
            let (served, stream) = connect(address);
            assert_eq!(served, fits, "{address}");
            held.push(stream);
        }
    }
    drop(held);
    let start = Instant::now();
    while !connect("192.0.2.1").0 {
        assert!(start.elapsed() < PATIENCE, "places are not given back");
    }
}
