//! The way to a server: TCP, the tunnel of a proxy, TLS.

use super::handle::Counts;
use super::response::Response;
use super::wire::Wire;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;
use torr_press::Destination;

/// The largest header section of a response to a handshake in bytes, and the largest number of its field lines.
const LARGEST_HEAD: usize = 64 * 1024;
const MOST_FIELDS: usize = 100;

/// Connects to a server, through the proxy and with TLS if it has them.
///
/// # Errors
/// The reason in one line.
pub(super) async fn reach(
    destination: &Destination,
    source: Option<IpAddr>,
    counts: Arc<Counts>,
    began: Instant,
) -> Result<Wire, String> {
    let addresses = destination.addresses.iter().filter_map(torr_net::Address::tcp);
    let mut wire = Wire::connect(addresses, source, counts).await?;
    if let Some(tunnel) = &destination.tunnel {
        wire.send(tunnel)?;
        let response = read_head(&mut wire, began).await?;
        if response.status != 200 {
            return Err(format!("the proxy refused the tunnel with status {}", response.status));
        }
    }
    if let Some(tls) = &destination.tls {
        wire.secure(tls.client()).await?;
    }
    Ok(wire)
}

/// Reads the header section of a response. What follows it stays with the connection.
///
/// # Errors
/// The reason in one line.
pub(super) async fn read_head(wire: &mut Wire, began: Instant) -> Result<Response, String> {
    loop {
        let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
        let mut head = httparse::Response::new(&mut fields);
        let parsed = head.parse(&wire.plain).map_err(|error| format!("malformed HTTP response: {error}"))?;
        if let httparse::Status::Complete(length) = parsed {
            let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
            let response = Response {
                took: began.elapsed(),
                status: head.code.unwrap_or_default(),
                fields: head.headers.iter().map(|field| (field.name.to_owned(), text(field.value))).collect(),
                body: Vec::new(),
            };
            wire.plain.drain(..length);
            match response.status {
                // An interim response (RFC 9110, section 15.2) precedes the one that counts.
                100 | 102..200 => continue,
                _ => return Ok(response),
            }
        }
        if wire.plain.len() > LARGEST_HEAD {
            return Err(format!("the header section of the response is larger than {} KiB", LARGEST_HEAD >> 10));
        }
        if wire.has_ended {
            return Err("unexpected EOF".to_owned());
        }
        wire.turn(true).await?;
    }
}
