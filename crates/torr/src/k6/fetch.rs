//! Modules from other machines: one request by https for each, redirects followed.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use torr_net::address;
use torr_net::tls::{TlsClient, TlsSettings};
use torr_press::Target;

/// The time-out of connecting and of each wait for the server.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The largest response, in bytes.
const MOST: usize = 17 << 20;
/// The number of redirects that are followed.
const REDIRECTS: usize = 5;

/// Returns the content at an https URL.
pub fn get(url: &str) -> Result<Vec<u8>, String> {
    let mut url = url.to_owned();
    for _ in 0..=REDIRECTS {
        let response = exchange(&url)?;
        match response.location {
            Some(location) if location.starts_with('/') => {
                let target = Target::parse(&url).map_err(|error| error.to_string())?;
                url = format!("https://{}{location}", target.authority());
            }
            Some(location) => url = location,
            None if response.status == 200 => return Ok(response.content),
            None => return Err(format!("the server responded with status {}", response.status)),
        }
    }
    Err(format!("more than {REDIRECTS} redirects"))
}

struct Response {
    status: u16,
    location: Option<String>,
    content: Vec<u8>,
}

fn exchange(url: &str) -> Result<Response, String> {
    let target = Target::parse(url).map_err(|error| error.to_string())?;
    if !target.tls {
        return Err(format!("expected an https URL, found '{url}'"));
    }
    let mut client = TlsSettings::new(&*target.host).load().map_err(|error| error.to_string())?.client();
    let mut stream = connect(&target)?;
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: torr/{}\r\nConnection: close\r\n\r\n",
        target.path(),
        target.authority(),
        env!("CARGO_PKG_VERSION")
    );
    let bytes = converse(&mut client, &mut stream, request.as_bytes())?;
    parse(&bytes)
}

fn connect(target: &Target) -> Result<TcpStream, String> {
    let addresses = address::resolve(&target.host, target.port)
        .map_err(|error| format!("cannot resolve '{}': {error}", target.host))?;
    let mut last = format!("'{}' has no address", target.host);
    for address in addresses {
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(stream) => {
                let limited =
                    stream.set_read_timeout(Some(TIMEOUT)).and_then(|()| stream.set_write_timeout(Some(TIMEOUT)));
                return limited.map(|()| stream).map_err(|error| error.to_string());
            }
            Err(error) => last = format!("cannot connect to {address}: {error}"),
        }
    }
    Err(last)
}

/// Sends a request over TLS and returns all that the server sends until it closes the connection.
fn converse(client: &mut TlsClient, stream: &mut TcpStream, request: &[u8]) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| error.to_string();
    let (mut out, mut plain, mut buffer, mut is_sent) = (Vec::new(), Vec::new(), vec![0; 64 << 10], false);
    client.open(&mut out).map_err(|error| error.to_string())?;
    loop {
        if !is_sent && !client.is_handshaking() {
            client.send(request, &mut out).map_err(|error| error.to_string())?;
            is_sent = true;
        }
        stream.write_all(&out).map_err(failed)?;
        out.clear();
        if client.is_closed() {
            return Ok(plain);
        }
        let received = match stream.read(&mut buffer) {
            Ok(0) => return Ok(plain),
            Ok(received) => received,
            // The content may be whole: its length tells.
            Err(error) if plain.is_empty() => return Err(failed(error)),
            Err(_) => return Ok(plain),
        };
        client.receive(&mut buffer[..received], &mut out, &mut plain).map_err(|error| error.to_string())?;
        if plain.len() > MOST {
            return Err(format!("the response is larger than {} MiB", MOST >> 20));
        }
    }
}

/// Returns the response that bytes are.
fn parse(bytes: &[u8]) -> Result<Response, String> {
    let cut = || "the response is incomplete".to_owned();
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").ok_or_else(cut)?;
    let head = String::from_utf8_lossy(&bytes[..end]);
    let status = head.split(' ').nth(1).and_then(|status| status.get(..3)).and_then(|status| status.parse().ok());
    let status = status.ok_or("the response is not HTTP")?;
    let field = |wanted: &str| {
        let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
        fields.filter(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim().to_owned()).next()
    };
    let rest = &bytes[end + 4..];
    let content = match (field("transfer-encoding"), field("content-length")) {
        (Some(_), _) => chunks(rest).ok_or_else(cut)?,
        (None, Some(length)) => {
            let length: usize = length.parse().map_err(|_| "the length of the response is no number")?;
            rest.get(..length).ok_or_else(cut)?.to_vec()
        }
        (None, None) => rest.to_vec(),
    };
    Ok(Response { status, location: (300..400).contains(&status).then(|| field("location")).flatten(), content })
}

/// Returns the content of chunks; `None` if their end is missing.
fn chunks(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    loop {
        let end = rest.windows(2).position(|window| window == b"\r\n")?;
        let size = std::str::from_utf8(&rest[..end]).ok()?;
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(content);
        }
        let begin = end + 2;
        content.extend_from_slice(rest.get(begin..begin.checked_add(size)?)?);
        rest = rest.get(begin + size + 2..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_read_in_each_framing() {
        let whole = parse(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokmore").expect("the response is whole");
        assert_eq!((whole.status, whole.content.as_slice()), (200, &b"ok"[..]));
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nok\r\n1\r\n!\r\n0\r\n\r\n";
        assert_eq!(parse(chunked).expect("the response is whole").content, b"ok!");
        let moved = parse(b"HTTP/1.1 302 Found\r\nlocation: https://x/\r\n\r\n").expect("the response is whole");
        assert_eq!(moved.location.as_deref(), Some("https://x/"));
        for cut in [
            "",
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok",
        ] {
            assert!(parse(cut.as_bytes()).is_err(), "{cut}");
        }
        assert!(get("http://127.0.0.1/").is_err_and(|error| error.contains("https")));
    }
}
