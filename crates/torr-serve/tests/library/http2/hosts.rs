//! The host that a request names.

use super::scene::{app, start};
use crate::support::{PATIENCE, Running};
use bytes::Bytes;
use http::{Request, Uri};
use std::io::{Read, Write};
use std::net::TcpStream;

#[test]
fn a_request_names_one_host() {
    let (server, client) = start(|_| {});
    drop(server.client());
    let request = |authority: Option<&str>, hosts: &[&str], path: &str| {
        let uri = match authority {
            Some(authority) => Uri::builder().scheme("http").authority(authority).path_and_query(path).build(),
            None => Uri::builder().path_and_query(path).build(),
        };
        let mut request = Request::builder().uri(uri.expect("it is valid")).body(Bytes::new()).expect("it is valid");
        let fields = hosts.iter().map(|host| http::HeaderValue::from_str(host).expect("it is valid"));
        for host in fields {
            request.headers_mut().append("host", host);
        }
        request
    };
    for path in ["/c/host", "/users/1"] {
        for (authority, hosts, status) in [
            (Some("a.example"), &[][..], 200),
            (Some("a.example:80"), &["A.Example:80"], 200),
            (Some("a.example"), &["b.example"], 400),
            (Some("a.example"), &["a.example:80"], 400),
            (Some("a.example"), &["a.example", "a.example"], 400),
            (Some("a.example"), &["a.example", "b.example"], 400),
            (Some("a.example"), &["a.example, b.example"], 400),
            (Some("user@a.example"), &[], 400),
        ] {
            let outcome = client.ask(request(authority, hosts, path));
            assert_eq!(outcome.response().status, status, "{authority:?} {hosts:?} {path}: {outcome:?}");
            if status == 200 && path == "/c/host" {
                let host = outcome.response().text().to_ascii_lowercase();
                assert_eq!(Some(&*host), authority, "{hosts:?}");
            }
        }
    }
}

/// A client that sends no `:authority`, which the library always does.
#[test]
fn a_host_field_stands_for_the_authority() {
    let server = Running::start(app());
    let ask = |hosts: &[&[u8]]| {
        // GET, http, /c/host; no field is added to the table.
        let mut block = b"\x82\x86\x04\x07/c/host".to_vec();
        for host in hosts {
            block.extend_from_slice(&[0x0f, 38 - 15, host.len() as u8]);
            block.extend_from_slice(host);
        }
        let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0".to_vec();
        bytes.extend_from_slice(&[block.len() as u8, 1, 5, 0, 0, 0, 1]);
        bytes.extend_from_slice(&block);
        let mut stream = TcpStream::connect(server.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        stream.write_all(&bytes).expect("it is connected");
        loop {
            let mut head = [0; 9];
            stream.read_exact(&mut head).expect("a frame");
            let mut payload = vec![0; usize::from(u16::from_be_bytes([head[1], head[2]]))];
            stream.read_exact(&mut payload).expect("its payload");
            if head[3] == 1 {
                // The status: indexed, or a literal of three digits.
                return match payload[0] {
                    0x88 => 200,
                    0x8c => 400,
                    other => panic!("an answer that begins with {other:#x}"),
                };
            }
        }
    };
    for (hosts, status) in [
        (&[&b"a.example"[..]][..], 200),
        (&[b"a.example:80"], 200),
        (&[], 400),
        (&[b"a.example", b"a.example"], 400),
        (&[b"a/b"], 400),
        (&[b"a.example, b.example"], 400),
        (&[b"a.example:99999"], 400),
    ] {
        assert_eq!(ask(hosts), status, "{hosts:?}");
    }
}
