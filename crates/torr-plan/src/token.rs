//! `--oauth2-client`: a token by the client credentials grant of OAuth 2 (RFC 6749, section 4.4), requested before the run and
//! renewed while it goes on.
//!
//! `ureq` makes the few requests for it: they are no load, and a token server may speak what the load does not.

use crate::error::PlanError;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;
use torr_gauge::redact;
use torr_gauge::secrets::Secrets;
use torr_load::{RequestPart, TlsPart};
use torr_net::errors::describe;
use torr_press::request::token::{Renewal, Token};
use ureq::Agent;
use ureq::http::Uri;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// The time-out of a request for a token.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The most bytes of a response that are read.
const MOST_RESPONSE: u64 = 64 * 1024;
/// The most characters of a server's reason that are shown.
const LONGEST_REASON: usize = 200;
/// The longest time before its end at which a token is renewed.
const MARGIN: Duration = Duration::from_secs(60);
/// The longest life of a token that is believed.
const LONGEST_LIFE: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
/// The shortest and the longest pause between two requests for a token.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(30)];

/// What requests tokens.
struct TokenClient {
    url: Uri,
    shown_url: String,
    id: String,
    secret: String,
    /// The parameters beside the client's name and its secret.
    form: Vec<(String, String)>,
    /// Whether the client's secret stands in the form. Servers have to accept it in the header section, and some do not.
    in_form: bool,
    agent: Agent,
}

/// A token with its life.
struct Issued {
    token: String,
    life: Option<Duration>,
}

/// Why a server issued no token.
struct Refusal {
    /// Whether it may have refused the way in which the client has sent its secret.
    is_of_client: bool,
    why: String,
}

impl From<ureq::Error> for Refusal {
    fn from(error: ureq::Error) -> Self {
        let why = match error {
            ureq::Error::Io(error) => describe(&error),
            error => error.to_string(),
        };
        Self { is_of_client: false, why }
    }
}

/// The response of a token server (RFC 6749, sections 5.1 and 5.2).
#[derive(Default, Deserialize)]
#[serde(default)]
struct Reply {
    access_token: Option<String>,
    token_type: Option<String>,
    expires_in: Option<Seconds>,
    error: Option<String>,
    error_description: Option<String>,
}

/// A number of seconds, which some servers send as a text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Seconds {
    Number(f64),
    Text(String),
}

/// Requests a token, and renews it as long as there is a clone of it.
///
/// # Errors
/// For a mistake of the settings, and if the token server does not issue a token.
pub(crate) fn begin(part: &RequestPart, client: &str, tls: &TlsPart) -> Result<Token, PlanError> {
    let mut client = TokenClient::new(part, client, tls)?;
    let issued = client.issue().map_err(PlanError::Unreachable)?;
    let (stop, stopped) = mpsc::channel::<()>();
    let token = Token::new(&issued.token, stop)
        .map_err(|error| PlanError::Unreachable(format!("cannot use the token of {}: {error}", client.shown_url)))?;
    if let Some(life) = issued.life {
        let renewal = token.renewal();
        let renew = move || client.renew(life, &renewal, &stopped);
        let started = std::thread::Builder::new().name("torr-token".into()).spawn(renew);
        started.map_err(|error| {
            PlanError::Unreachable(format!("cannot start the thread that renews the token: {error}"))
        })?;
    }
    Ok(token)
}

impl TokenClient {
    fn new(part: &RequestPart, client: &str, tls: &TlsPart) -> Result<Self, PlanError> {
        let usage = |line: String| PlanError::Usage(line);
        let (id, secret) = client.split_once(':').ok_or_else(|| usage("--oauth2-client must be ID:SECRET".into()))?;
        let text = part.oauth2_token_url.as_deref().unwrap_or_default();
        let wrong =
            || usage(format!("--oauth2-token-url: '{}' must be a URL of http:// or https://", redact::url(text)));
        let url: Uri = text.parse().map_err(|_| wrong())?;
        let has_scheme = matches!(url.scheme_str(), Some("http" | "https"));
        if !has_scheme || url.host().is_none_or(str::is_empty) {
            return Err(wrong());
        }
        let mut form = vec![("grant_type".to_owned(), "client_credentials".to_owned())];
        form.extend(part.oauth2_scope.iter().map(|scope| ("scope".to_owned(), scope.clone())));
        for pair in &part.oauth2_params {
            let line = || usage("--oauth2-param must be name=value (not shown, as it may hold a secret)".into());
            let (name, value) = pair.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(line)?;
            form.push((name.to_owned(), value.to_owned()));
        }
        let (id, secret) = (id.to_owned(), secret.to_owned());
        let agent = agent(tls, url.scheme_str() == Some("https"))?;
        Ok(Self { shown_url: redact::url(text).into_owned(), url, id, secret, form, in_form: false, agent })
    }

    /// Requests a token. A server that does not accept the client's secret in the header section gets it in the form, from then on
    /// if that helps.
    ///
    /// # Errors
    /// In one line, if it issues none.
    fn issue(&mut self) -> Result<Issued, String> {
        let issued = match self.request(self.in_form) {
            Err(refusal) if refusal.is_of_client && !self.in_form => {
                let issued = self.request(true);
                self.in_form = issued.is_ok();
                issued
            }
            issued => issued,
        };
        issued.map_err(|refusal| format!("cannot get a token from {}: {}", self.shown_url, self.shown(refusal.why)))
    }

    /// Returns text of the server as one line that is short and shows no secret that was sent to it.
    fn shown(&self, text: String) -> String {
        let secrets = self.form.iter().map(|(_, value)| value.clone()).skip(1).chain([self.secret.clone()]);
        redact::line(&Secrets::new(secrets).mask(text)).chars().take(LONGEST_REASON).collect()
    }

    /// Requests a token once, with the client's secret in the form or in the header section.
    fn request(&self, in_form: bool) -> Result<Issued, Refusal> {
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let mut form = self.form.clone();
        let mut request = self.agent.post(&self.url).header("Accept", "application/json");
        if in_form {
            form.extend([("client_id".to_owned(), self.id.clone()), ("client_secret".to_owned(), self.secret.clone())]);
        } else {
            let pair = format!("{}:{}", encoded(&self.id), encoded(&self.secret));
            request = request.header("Authorization", format!("Basic {}", BASE64_STANDARD.encode(pair)));
        }
        let mut response = request.send_form(form.iter().map(|(name, value)| (name.as_str(), value.as_str())))?;
        let status = response.status().as_u16();
        let content = response.body_mut().with_config().limit(MOST_RESPONSE).read_to_vec()?;
        let reply: Reply = serde_json::from_slice(&content).unwrap_or_default();
        if !(200..300).contains(&status) {
            let reasons: Vec<_> = reply.error.into_iter().chain(reply.error_description).collect();
            let reason = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(": ")) };
            return Err(Refusal { is_of_client: matches!(status, 400 | 401), why: format!("status {status}{reason}") });
        }
        let unusable = |why: String| Refusal { is_of_client: false, why };
        match (reply.access_token, reply.token_type) {
            (None, _) => Err(unusable("the response has no access_token".to_owned())),
            (_, Some(kind)) if !kind.eq_ignore_ascii_case("bearer") => {
                Err(unusable(format!("tokens of the type '{kind}' are not supported")))
            }
            (Some(token), _) => Ok(Issued { token, life: reply.expires_in.and_then(|seconds| seconds.life()) }),
        }
    }

    /// Renews a token before it ends, until nothing uses it any more.
    fn renew(mut self, life: Duration, renewal: &Renewal, stopped: &Receiver<()>) {
        let (mut pause, mut failures) = (before_its_end(life), 0_u32);
        while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            let issued = self.issue();
            let is_used = renewal.renew(issued.as_ref().map(|issued| issued.token.as_str()).map_err(Clone::clone));
            if !is_used {
                return;
            }
            (pause, failures) = match issued.map(|issued| issued.life) {
                Ok(Some(life)) => (before_its_end(life), 0),
                // It lives for ever.
                Ok(None) => return,
                Err(_) => ((PAUSES[0] * (1 << failures.min(8))).min(PAUSES[1]), failures + 1),
            };
        }
    }
}

impl Seconds {
    fn life(&self) -> Option<Duration> {
        let seconds = match self {
            Self::Number(seconds) => *seconds,
            Self::Text(text) => text.trim().parse().ok()?,
        };
        let life = Duration::try_from_secs_f64(seconds).ok()?;
        Some(life.min(LONGEST_LIFE))
    }
}

/// Returns the time after which a token of this life is renewed: a tenth of it earlier than it ends, and at least once a second.
fn before_its_end(life: Duration) -> Duration {
    (life - (life / 10).min(MARGIN)).max(PAUSES[0])
}

/// Returns what makes requests, each on a connection of its own.
fn agent(tls: &TlsPart, is_secure: bool) -> Result<Agent, PlanError> {
    let config = Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .max_redirects(0)
        .max_idle_connections(0)
        .http_status_as_error(false)
        .user_agent(concat!("torr/", env!("CARGO_PKG_VERSION")));
    Ok(if is_secure { config.tls_config(tls_config(tls)?) } else { config }.build().into())
}

/// Returns a configuration with the trust of the load: that of `--cacert`, all of `--insecure`, or that of the system.
fn tls_config(part: &TlsPart) -> Result<TlsConfig, PlanError> {
    let roots: Vec<Certificate<'static>> = match &part.cacert {
        Some(path) => {
            let wrong = |why: String| PlanError::Usage(format!("--cacert {}: {why}", path.display()));
            let pem = part.files.read(&path.to_string_lossy()).map_err(|error| wrong(describe(&error)))?;
            let certificates = parse_pem(&pem).filter_map(Result::ok).filter_map(|item| match item {
                PemItem::Certificate(certificate) => Some(certificate),
                _ => None,
            });
            certificates.collect()
        }
        None => {
            let system = rustls_native_certs::load_native_certs().certs;
            system.iter().map(|root| Certificate::from_der(root).to_owned()).collect()
        }
    };
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .disable_verification(part.insecure && part.cacert.is_none())
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_renewed_before_it_ends() {
        for (life, expected) in [(3600, 3540), (600, 540), (100, 90), (10, 9), (1, 1), (0, 1)] {
            assert_eq!(before_its_end(Duration::from_secs(life)), Duration::from_secs(expected), "{life}");
        }
    }

    #[test]
    fn a_life_is_a_number_or_a_text_and_has_a_bound() {
        let life = |json: &str| {
            let reply: Reply = serde_json::from_str(json).expect("it is JSON");
            reply.expires_in.and_then(|seconds| seconds.life())
        };
        assert_eq!(life(r#"{"expires_in": 30}"#), Some(Duration::from_secs(30)));
        assert_eq!(life(r#"{"expires_in": "30"}"#), Some(Duration::from_secs(30)));
        assert_eq!(life(r#"{"expires_in": 1e300}"#), None);
        assert_eq!(life(r#"{"expires_in": 1e12}"#), Some(LONGEST_LIFE));
        assert_eq!(life(r#"{"expires_in": -1}"#), None);
        assert_eq!(life(r#"{"access_token": "x"}"#), None);
    }
}
