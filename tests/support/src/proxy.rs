//! A proxy that connects further, or says that it will not.

use crate::script::{Client, Script};

/// A proxy that connects, or refuses.
pub fn proxy(response: &'static [u8]) -> Script {
    Script::start(move |client: &mut Client| {
        let Some(head) = client.request() else { return };
        let head = String::from_utf8_lossy(&head).into_owned();
        let to =
            head.strip_prefix("CONNECT ").and_then(|rest| rest.split(' ').next()).expect("it is a CONNECT").to_owned();
        client.send(response);
        if response.starts_with(b"HTTP/1.1 200") {
            client.relay(&to);
        }
    })
}
