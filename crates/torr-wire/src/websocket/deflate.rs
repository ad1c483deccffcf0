//! What an opening handshake says of `permessage-deflate` (RFC 7692, section 7.1).

/// The name of the extension.
const NAME: &str = "permessage-deflate";
/// The window of DEFLATE that both sides have without a parameter, as a power of two.
const LARGEST_WINDOW: u8 = 15;
/// The smallest window that a parameter can have (section 7.1.2).
const SMALLEST_WINDOW: u8 = 8;

/// What the client offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// Messages may refer to earlier ones, and the server may limit the client's window.
    WithTakeover,
    /// Each message is compressed by itself, in both directions.
    WithoutTakeover,
}

impl Offer {
    /// Returns the value of `Sec-WebSocket-Extensions` in the request.
    #[must_use]
    pub fn value(self) -> &'static str {
        match self {
            Self::WithTakeover => "permessage-deflate; client_max_window_bits",
            Self::WithoutTakeover => "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
        }
    }
}

/// What client and server have agreed on for the messages of one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agreement {
    /// Whether the server's messages may refer to earlier ones.
    pub server_takes_over: bool,
    /// Whether the client's messages may refer to earlier ones.
    pub client_takes_over: bool,
    /// The largest window of the server, as a power of two from 8 to 15.
    pub server_window: u8,
    /// The largest window of the client, as a power of two from 8 to 15.
    pub client_window: u8,
}

/// What in a server's response there can be no agreement on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unagreed<'v> {
    /// An extension that was not offered, or one twice.
    Extension(&'v [u8]),
    /// A parameter of the extension.
    Parameter(&'v [u8]),
}

impl Agreement {
    /// Returns what the values of `Sec-WebSocket-Extensions` in a response agree on; `None` if they have no extension.
    ///
    /// # Errors
    /// If they have other extensions than the one that was offered, or parameters that are invalid or do not match the offer
    /// (section 7.1.3: the client fails the connection then).
    pub(super) fn of<'v>(
        offer: Option<Offer>,
        values: impl Iterator<Item = &'v [u8]>,
    ) -> Result<Option<Self>, Unagreed<'v>> {
        let extensions = values.flat_map(|value| value.split(|&byte| byte == b',')).map(<[u8]>::trim_ascii);
        let mut agreement = None;
        for extension in extensions.filter(|extension| !extension.is_empty()) {
            let mut parts = extension.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
            let is_known = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(NAME.as_bytes()));
            agreement = match offer {
                Some(offer) if is_known && agreement.is_none() => Some(Self::with_parameters(offer, parts)?),
                _ => return Err(Unagreed::Extension(extension)),
            };
        }
        Ok(agreement)
    }

    fn with_parameters<'v>(offer: Offer, parameters: impl Iterator<Item = &'v [u8]>) -> Result<Self, Unagreed<'v>> {
        let mut agreement = Self {
            server_takes_over: true,
            // A client that has offered not to refer to earlier messages does not, whatever the server says (section 7.1.1.2).
            client_takes_over: offer == Offer::WithTakeover,
            server_window: LARGEST_WINDOW,
            client_window: LARGEST_WINDOW,
        };
        let mut seen = [false; 4];
        for parameter in parameters {
            let mut halves = parameter.splitn(2, |&byte| byte == b'=').map(<[u8]>::trim_ascii);
            let (name, value) = (halves.next().unwrap_or_default(), halves.next());
            let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
            let window = value.and_then(window);
            let at = match (value, window) {
                (None, _) if is("server_no_context_takeover") => {
                    agreement.server_takes_over = false;
                    0
                }
                (None, _) if is("client_no_context_takeover") => {
                    agreement.client_takes_over = false;
                    1
                }
                (_, Some(window)) if is("server_max_window_bits") => {
                    agreement.server_window = window;
                    2
                }
                (_, Some(window)) if is("client_max_window_bits") && offer == Offer::WithTakeover => {
                    agreement.client_window = window;
                    3
                }
                _ => return Err(Unagreed::Parameter(parameter)),
            };
            if std::mem::replace(&mut seen[at], true) {
                return Err(Unagreed::Parameter(parameter));
            }
        }
        Ok(agreement)
    }
}

/// Returns the window of a parameter: a number without leading zeros, which may be quoted.
fn window(value: &[u8]) -> Option<u8> {
    let value = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value);
    let window = match value {
        [digit @ b'0'..=b'9'] => digit - b'0',
        [b'1', digit @ b'0'..=b'9'] => 10 + digit - b'0',
        _ => return None,
    };
    (SMALLEST_WINDOW..=LARGEST_WINDOW).contains(&window).then_some(window)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Agreement =
        Agreement { server_takes_over: true, client_takes_over: true, server_window: 15, client_window: 15 };

    fn of<'v>(offer: Option<Offer>, values: &[&'v str]) -> Result<Option<Agreement>, Unagreed<'v>> {
        Agreement::of(offer, values.iter().map(|value| value.as_bytes()))
    }

    #[test]
    fn a_response_may_lower_what_was_offered() {
        let with = |value| of(Some(Offer::WithTakeover), &[value]);
        assert_eq!(of(Some(Offer::WithTakeover), &[]), Ok(None), "the server declines");
        assert_eq!(with(""), Ok(None));
        assert_eq!(with("permessage-deflate"), Ok(Some(PLAIN)));
        let server_alone = Agreement { server_takes_over: false, ..PLAIN };
        assert_eq!(with("Permessage-Deflate ; SERVER_no_context_takeover"), Ok(Some(server_alone)));
        let client_alone = Agreement { client_takes_over: false, ..PLAIN };
        assert_eq!(with("permessage-deflate;client_no_context_takeover"), Ok(Some(client_alone)));
        let windows = Agreement { server_window: 8, client_window: 10, ..PLAIN };
        assert_eq!(
            with("permessage-deflate; server_max_window_bits=8; client_max_window_bits=\"10\""),
            Ok(Some(windows))
        );
        let without = |value| of(Some(Offer::WithoutTakeover), &[value]);
        let neither = Agreement { server_takes_over: false, client_takes_over: false, ..PLAIN };
        assert_eq!(without(Offer::WithoutTakeover.value()), Ok(Some(neither)));
        assert_eq!(without("permessage-deflate"), Ok(Some(client_alone)), "the server does not do what was offered");
    }

    #[test]
    fn what_was_not_offered_is_refused() {
        let all = "permessage-deflate";
        assert_eq!(of(None, &[all]), Err(Unagreed::Extension(all.as_bytes())));
        for value in ["x-webkit-deflate-frame", "permessage-deflate, permessage-deflate", "permessage-deflate, x"] {
            let refused = of(Some(Offer::WithTakeover), &[value]);
            assert!(matches!(refused, Err(Unagreed::Extension(_))), "{value}: {refused:?}");
        }
        assert!(of(Some(Offer::WithTakeover), &[all, all]).is_err(), "two lines");
        for parameter in [
            "server_no_context_takeover=1",
            "client_no_context_takeover=true",
            "server_max_window_bits",
            "client_max_window_bits",
            "server_max_window_bits=7",
            "server_max_window_bits=16",
            "server_max_window_bits=08",
            "client_max_window_bits=",
            "client_max_window_bits=\"9",
            "mem_level=8",
            "",
        ] {
            let value = format!("permessage-deflate; {parameter}");
            let refused = of(Some(Offer::WithTakeover), &[&value]);
            assert_eq!(refused, Err(Unagreed::Parameter(parameter.as_bytes())), "{value}");
        }
        let twice = "permessage-deflate; server_max_window_bits=9; server_max_window_bits=9";
        assert!(of(Some(Offer::WithTakeover), &[twice]).is_err());
        let limited = "permessage-deflate; client_max_window_bits=9";
        let parameter = Unagreed::Parameter(b"client_max_window_bits=9");
        assert_eq!(of(Some(Offer::WithoutTakeover), &[limited]), Err(parameter));
    }
}
