//! What a request offers that opens a WebSocket (RFC 6455, section 4.1).

use torr_wire::is_token;
use torr_wire::websocket::Key;

/// The name of the field that offers subprotocols, with its colon.
const SUBPROTOCOLS: &[u8] = b"sec-websocket-protocol:";

/// What the server's response has to fit.
#[derive(Debug)]
pub(crate) struct OfferedSocket {
    pub key: Key,
    /// The subprotocols.
    pub subprotocols: Vec<String>,
}

impl OfferedSocket {
    /// Reads the header section of a request; `None` if it has no key.
    pub fn of_request(head: &[u8]) -> Option<Box<Self>> {
        let key = Key::of_request(head)?;
        let lines = head.split(|&byte| byte == b'\n');
        let named = |line: &&[u8]| line.get(..SUBPROTOCOLS.len()).is_some_and(|n| n.eq_ignore_ascii_case(SUBPROTOCOLS));
        let names = lines.filter(named).flat_map(|line| line[SUBPROTOCOLS.len()..].split(|&byte| byte == b','));
        let names = names.map(<[u8]>::trim_ascii).filter(|name| !name.is_empty() && name.iter().all(|b| is_token(*b)));
        let subprotocols = names.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        Some(Box::new(Self { key, subprotocols }))
    }
}
