//! `ws://` and `wss://` URLs: what of a load means something for them.

use crate::error::PlanError;
use torr_load::Load;

/// The settings that mean something for HTTP only.
const OF_HTTP: [&str; 20] = [
    "log",
    "request",
    "head",
    "get",
    "form",
    "data-urlencode",
    "range",
    "urls",
    "script",
    "follow",
    "digest",
    "expect-status",
    "expect-header",
    "http2",
    "http2-prior-knowledge",
    "http3",
    "alt-svc",
    "streams",
    "sse",
    "tokens",
];
/// The settings that mean something for WebSockets only.
const OF_WEBSOCKETS: [&str; 5] = ["binary", "match", "subprotocol", "no-context-takeover", "listen"];

/// Finds a setting that means nothing for the URL of a load.
///
/// # Errors
/// For the first such setting, and for several messages.
pub(crate) fn check(load: &Load, is_websocket: bool) -> Result<(), PlanError> {
    let has = |name: &&&str| load.has(name);
    if !is_websocket {
        let unmet = OF_WEBSOCKETS.iter().find(has);
        return unmet.map_or(Ok(()), |name| Err(PlanError::Usage(format!("--{name} needs a ws:// or wss:// URL"))));
    }
    if let Some(name) = OF_HTTP.iter().find(has) {
        return Err(PlanError::Usage(format!("--{name} is not supported for WebSockets")));
    }
    if load.request.data.len() > 1 {
        return Err(PlanError::Usage("a WebSocket sends one message: give it as one --data".into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_load::find;

    #[test]
    fn settings_are_those_of_the_protocol() {
        for name in OF_HTTP.iter().chain(&OF_WEBSOCKETS) {
            assert!(find(name).is_some(), "{name} is no setting");
        }
        let why = |name: &str, value: &str, is_websocket| {
            let mut load = Load::default();
            load.set(name, value).unwrap_or_else(|error| panic!("{name}: {error}"));
            check(&load, is_websocket).err().map(PlanError::into_line)
        };
        assert_eq!(why("head", "", true).as_deref(), Some("--head is not supported for WebSockets"));
        assert_eq!((why("compressed", "", true), why("compressed", "", false)), (None, None));
        assert_eq!((why("head", "", false), why("binary", "", true)), (None, None));
        assert_eq!(why("subprotocol", "x", false).as_deref(), Some("--subprotocol needs a ws:// or wss:// URL"));
        let mut load = Load::default();
        (0..2).for_each(|_| load.set("data", "x").expect("it is a message"));
        assert!(check(&load, true).is_err() && check(&load, false).is_ok());
    }
}
