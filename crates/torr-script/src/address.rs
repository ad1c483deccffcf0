//! Addresses as scripts have them: `wrk.lookup`, `wrk.connect`, `thread.addr`.

use mlua::{AnyUserData, Lua, MetaMethod, Result, Table, UserData, UserDataMethods};
use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use torr_net::address;

/// How long a trial connection may take to come about.
const TRIAL: Duration = Duration::from_secs(3);

/// An address of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptAddress(pub SocketAddr);

impl UserData for ScriptAddress {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::ToString, |_, this, ()| Ok(this.0.to_string()));
        methods.add_meta_method(MetaMethod::Eq, |_, this, other: AnyUserData| {
            Ok(other.borrow::<Self>().is_ok_and(|other| *other == *this))
        });
    }
}

/// Adds `lookup` and `connect` to Torr's functions.
pub fn add_functions(lua: &Lua, native: &Table) -> Result<()> {
    native.set(
        "lookup",
        lua.create_function(|_, (host, service): (String, String)| {
            Ok(match lookup(&host, &service) {
                Ok(addresses) => (Some(addresses.into_iter().map(ScriptAddress).collect::<Vec<_>>()), None),
                Err(problem) => (None, Some(problem)),
            })
        })?,
    )?;
    native.set(
        "connect",
        lua.create_function(|_, address: AnyUserData| {
            let address = address.borrow::<ScriptAddress>()?.0;
            Ok(TcpStream::connect_timeout(&address, TRIAL).is_ok())
        })?,
    )
}

fn lookup(host: &str, service: &str) -> std::result::Result<Vec<SocketAddr>, String> {
    let port = port(service).ok_or_else(|| format!("unknown service '{service}': use a port number"))?;
    address::resolve(host, port).map_err(|_| format!("cannot resolve '{host}'"))
}

/// Returns the port of a service: a number, or a name as the system lists it.
fn port(service: &str) -> Option<u16> {
    match service {
        "http" => Some(80),
        "https" => Some(443),
        _ => service.parse().ok().or_else(|| listed_port(&fs::read_to_string("/etc/services").ok()?, service)),
    }
}

fn listed_port(services: &str, name: &str) -> Option<u16> {
    let lines = services.lines().map(|line| line.split('#').next().unwrap_or_default());
    let tcp = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        let (first, port) = (words.next()?, words.next()?.strip_suffix("/tcp")?);
        (first == name || words.any(|alias| alias == name)).then_some(port)
    });
    tcp.filter_map(|port| port.parse().ok()).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_numbers_or_names() {
        assert_eq!(["8080", "http", "https"].map(port), [Some(8080), Some(80), Some(443)]);
        assert_eq!(port("no such service"), None);
        let services = "ssh 22/tcp # remote\ndomain 53/udp\nwebcache 8080/tcp http-alt\n";
        assert_eq!(["ssh", "http-alt", "domain"].map(|name| listed_port(services, name)), [Some(22), Some(8080), None]);
    }
}
