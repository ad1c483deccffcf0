//! The connection of a client: it is opened and closed.

use super::client::{Client, ClientArg, Connected, carrier, next_event};
use super::params::ConnectParams;
use super::{records, reflect};
use crate::host::{go_error, object};
use crate::sockets::grpc::{GrpcEvent, GrpcServer, Opening};
use crate::user::Vu;
use rquickjs::{Ctx, Object, Result, Value};
use std::rc::Rc;
use std::time::Instant;

/// What an address may begin with, whose name is looked up in any case.
const DNS: &str = "dns:///";
/// The port of such an address that has none.
const PORT: &str = "443";

/// Returns the state of a new client.
pub(super) fn create<'js>(ctx: Ctx<'js>) -> Result<Object<'js>> {
    object(&ctx, Client::default())
}

/// Connects a client.
pub(super) fn connect<'js>(ctx: Ctx<'js>, client: ClientArg<'js>, address: String, params: Value<'js>) -> Result<bool> {
    let vu = Vu::of(&ctx);
    if vu.is_init() {
        return Err(go_error(&ctx, "connecting to a gRPC server in the init context is not supported"));
    }
    let params = ConnectParams::read(&ctx, &params)?;
    let (carrier, outlet) = carrier(&ctx, &vu)?;
    let client = client.borrow();
    let timeout = params.timeout;
    let deadline = Instant::now() + timeout;
    let opening = opening(&vu, &address, &params).map_err(|why| go_error(&ctx, &why))?;
    let id = opening.id;
    let connection = carrier.connect(opening, outlet);
    vu.events.sockets.expect(id, None);
    let opened = loop {
        match next_event(&ctx, &vu, id) {
            Ok(Some(GrpcEvent::Connected)) => break Ok(()),
            Ok(Some(GrpcEvent::Unconnected(why))) => break Err(go_error(&ctx, &why)),
            Ok(_) => {}
            Err(error) => break Err(error),
        }
    };
    vu.events.sockets.drop_socket(id);
    opened?;
    let connected = Rc::new(Connected { connection, address, most_sent: params.most_sent });
    *client.connection.borrow_mut() = Some(connected.clone());
    if params.reflects {
        let methods = reflect::methods(&ctx, &vu, &connected, &params.reflect_metadata, deadline)?;
        client.add(&methods);
    }
    Ok(true)
}

/// Closes the connection of a client, if it has one.
pub(super) fn close<'js>(ctx: Ctx<'js>, client: ClientArg<'js>) {
    let closed = client.borrow().connection.borrow_mut().take();
    if let Some(connected) = closed {
        connected.connection.close();
        records::count_transferred(&Vu::of(&ctx), &connected.connection);
    }
}

/// Returns the connection to an address.
fn opening(vu: &Vu, address: &str, params: &ConnectParams) -> std::result::Result<Opening, String> {
    let name = address.strip_prefix(DNS).unwrap_or(address);
    if name.is_empty() || name.contains("://") || name.contains(['/', '@', ' ']) || name.starts_with("unix:") {
        return Err(format!("expected an address such as 'localhost:50051', found '{address}'"));
    }
    let has_port = name.rsplit_once(':').is_some_and(|(_, port)| !port.contains(']') && !port.is_empty());
    let server = match (has_port, name.len() < address.len()) {
        (true, _) => name.to_owned(),
        (false, true) => format!("{}:{PORT}", name.trim_end_matches(':')),
        (false, false) => return Err(format!("expected an address with a port, found '{address}'")),
    };
    let scheme = if params.is_plaintext { "http" } else { "https" };
    let authority = params.authority.clone().unwrap_or_else(|| name.to_owned());
    let of_authority = params.authority.as_deref().map(host_of);
    Ok(Opening {
        id: vu.events.new_id(),
        server: GrpcServer {
            origin: format!("{scheme}://{server}"),
            name: of_authority.filter(|_| !params.is_plaintext),
            tls: params.tls.clone(),
        },
        authority,
        user_agent: vu.run.http_settings().user_agent.clone(),
        user: vu.id,
        timeout: params.timeout,
        most_received: params.most_received,
    })
}

/// Returns the host of an authority.
fn host_of(authority: &str) -> String {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    host.trim_matches(['[', ']']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authority_has_a_host() {
        for (authority, host) in [("a.test", "a.test"), ("a.test:81", "a.test"), ("[::1]:5", "::1")] {
            assert_eq!(host_of(authority), host);
        }
    }
}
