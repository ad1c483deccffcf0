//! The connection to NATS.

use crate::error::FleetError;
use crate::message::Message;
use crate::subject::FleetName;
use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, ServerAddr};
use percent_encoding::percent_decode_str;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;
use torr_gauge::redact;
use torr_net::tls::{Roots, TlsSettings};

/// The time-out of connecting, and of a request to an agent.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);
/// The time between two pings of the server; two without a reply end the connection.
const PING: Duration = Duration::from_secs(2);
/// The longest pause before another attempt to connect.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Where NATS is, and how to be let in.
#[derive(Clone, Default)]
pub struct Nats {
    /// URLs with commas between them, such as `nats://host:4222` or `tls://user:password@host`.
    pub urls: String,
    /// The file of a user's JWT and key.
    pub creds: Option<PathBuf>,
    /// The file of an nkey's seed.
    pub nkey: Option<PathBuf>,
    /// The file of certificates to trust instead of the system's.
    pub ca: Option<PathBuf>,
}

impl Nats {
    /// Returns whether there are credentials.
    pub fn has_credentials(&self) -> bool {
        self.creds.is_some() || self.nkey.is_some() || self.has_credentials_in_url()
    }

    /// Returns whether a URL has a user, a password or a token.
    pub fn has_credentials_in_url(&self) -> bool {
        let in_url = |address: &ServerAddr| address.username().is_some();
        self.addresses().is_ok_and(|all| all.iter().any(in_url))
    }

    /// Returns whether all servers are on this machine's loopback network.
    pub fn is_on_loopback(&self) -> bool {
        self.addresses().is_ok_and(|all| all.iter().all(|address| is_loopback(address.host())))
    }

    /// Returns the addresses without credentials, for messages.
    pub fn shown(&self) -> String {
        let shown = |address: &ServerAddr| format!("{}:{}", address.host(), address.port());
        let all = self.addresses().map(|all| all.iter().map(shown).collect::<Vec<_>>().join(","));
        all.unwrap_or_else(|_| "an invalid address".into())
    }

    /// Reads the URLs.
    ///
    /// # Errors
    /// [`FleetError::Usage`].
    pub fn addresses(&self) -> Result<Vec<ServerAddr>, FleetError> {
        let parse = |text: &str| {
            let text = text.trim();
            let text = if text.contains("://") { text.to_owned() } else { format!("nats://{text}") };
            text.parse::<ServerAddr>().ok().filter(|address| !address.host().is_empty())
        };
        let all: Option<Vec<_>> = self.urls.split(',').map(parse).collect();
        let wrong = || FleetError::Usage("--nats must be nats://HOST:PORT or tls://HOST:PORT".into());
        all.ok_or_else(wrong)
    }

    /// Connects, and keeps the connection up from then on. Responses go to subjects below `_INBOX`, those to an agent to ones
    /// below `_INBOX.AGENT`, so that its user may be kept from reading others'.
    ///
    /// # Errors
    /// If a file cannot be read, if no server can be reached, or if it refuses.
    pub(crate) async fn connect(&self, name: &str, agent: Option<&FleetName>) -> Result<Client, FleetError> {
        let addresses = self.addresses()?;
        let mut options = ConnectOptions::new()
            .name(name)
            .connection_timeout(TIMEOUT)
            .request_timeout(Some(TIMEOUT))
            .ping_interval(PING)
            .reconnect_delay_callback(|attempts| LONGEST_PAUSE.min(Duration::from_millis(100 * attempts as u64)));
        if let Some(agent) = agent {
            options = options.custom_inbox_prefix(format!("_INBOX.{agent}"));
        }
        // The client leaves those of the URL alone.
        if let Some((user, password)) = addresses.iter().find_map(user_and_password) {
            options = match password {
                Some(password) => options.user_and_password(user, password),
                None => options.token(user),
            };
        }
        let file = |path: &PathBuf, why: &dyn std::fmt::Display| {
            FleetError::Usage(format!("cannot read credentials from '{}': {why}", path.display()))
        };
        if let Some(path) = &self.creds {
            options = options.credentials_file(path).await.map_err(|error| file(path, &error))?;
        }
        if let Some(path) = &self.nkey {
            let seed = std::fs::read_to_string(path).map_err(|error| file(path, &error))?;
            options = options.nkey(seed.trim().to_owned());
        }
        let roots = self.ca.clone().map_or(Roots::System, Roots::File);
        match (TlsSettings { roots, ..TlsSettings::new("nats") }).client_config() {
            Ok(config) => options = options.tls_client_config(config),
            // Without TLS there is no certificate to check.
            Err(_) if self.ca.is_none() && !addresses.iter().any(ServerAddr::tls_required) => {}
            Err(error) => return Err(FleetError::Usage(format!("cannot use TLS with NATS: {error}"))),
        }
        let failed = |why: String| FleetError::Nats { server: self.shown(), why };
        match tokio::time::timeout(2 * TIMEOUT, options.connect(addresses)).await {
            Ok(connected) => connected.map_err(|error| failed(why_not(&error))),
            Err(_) => Err(failed(format!("timed out: {START}"))),
        }
    }
}

/// Returns the user and the password of a URL; a token stands alone.
fn user_and_password(address: &ServerAddr) -> Option<(String, Option<String>)> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    Some((decoded(address.username()?), address.password().map(decoded)))
}

/// What helps where no server of NATS is.
const START: &str = "start 'nats-server' there, or pass its address with --nats";

/// Returns why there is no connection, and what to do.
fn why_not(error: &ConnectError) -> String {
    match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            "access denied: pass credentials with --creds or --nkey, or user and password in the URL".into()
        }
        ConnectErrorKind::Io | ConnectErrorKind::Dns | ConnectErrorKind::TimedOut => {
            let line = one_line(error);
            let cause = line.strip_prefix(&format!("{}: ", error.kind())).unwrap_or(&line);
            // The number of a system's error says nothing to people.
            let cause = cause.split(" (os error").next().unwrap_or(cause);
            format!("{}: {START}", with_small_initial(cause))
        }
        _ => one_line(error),
    }
}

fn with_small_initial(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// Returns an error with its causes in one line.
fn one_line(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let text = next.to_string();
        if !line.contains(&text) {
            line = format!("{line}: {text}");
        }
        cause = next.source();
    }
    redact::printable(&line.replace(['\n', '\r'], " ")).into_owned()
}

/// Whether a host is the loopback network.
pub(crate) fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
}

/// Sends a message. A connection that is down takes it, and sends it when it is up again.
pub(crate) async fn send(client: &Client, subject: String, message: &Message) {
    publish(client, subject, message.encode()).await;
}

/// Sends an encoded message.
pub(crate) async fn publish(client: &Client, subject: String, bytes: bytes::Bytes) {
    // It fails only when the client was closed, and then there is nothing that would go on.
    let _ = client.publish(subject, bytes).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nats(urls: &str) -> Nats {
        Nats { urls: urls.into(), ..Nats::default() }
    }

    #[test]
    fn credentials_are_recognised_and_not_shown() {
        assert!(!nats("nats://127.0.0.1:4222").has_credentials());
        let secret = nats("tls://me:secret@a.test:4223,b.test");
        assert!(secret.has_credentials());
        assert_eq!(secret.shown(), "a.test:4223,b.test:4222");
        let pairs = nats("nats://a%40b:c%2Fd@a.test,nats://token@b.test,c.test").addresses().unwrap();
        let pairs: Vec<_> = pairs.iter().map(user_and_password).collect();
        let pair = |user: &str, password: Option<&str>| Some((user.to_owned(), password.map(str::to_owned)));
        assert_eq!(pairs, [pair("a@b", Some("c/d")), pair("token", None), None]);
    }

    #[test]
    fn a_server_that_is_not_there_is_named_with_what_to_do() {
        let Err(FleetError::Nats { server, why }) =
            crate::fleet::block_on(async { nats("nats://127.0.0.1:1").connect("test", None).await })
        else {
            panic!("there is a server at port 1")
        };
        assert_eq!(server, "127.0.0.1:1");
        assert_eq!(why, "connection refused: start 'nats-server' there, or pass its address with --nats");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for bad in ["", "http://a.test", "nats://"] {
            assert!(matches!(nats(bad).addresses(), Err(FleetError::Usage(_))), "{bad}");
        }
    }

    #[test]
    fn loopback_is_known_by_name_and_number() {
        assert!(["localhost", "127.0.0.1", "[::1]", "::1", "127.9.9.9"].into_iter().all(is_loopback));
        assert!(!["10.0.0.1", "a.test", "::2"].into_iter().any(is_loopback));
    }
}
