//! What options say about TLS, for each server.

use super::encrypted_key;
use super::pattern::is_matched;
use crate::options::{Options, TlsAuth};
use crate::sockets::grpc::{GrpcServer, GrpcTls};
use std::path::PathBuf;
use torr_net::tls::{self, Identity, IdentityPem, Roots, TlsError, TlsSettings, Versions};

/// The protocols that servers choose from.
const PROTOCOLS: &[&str] = &["h2", "http/1.1"];

/// What options say about TLS.
#[derive(Debug)]
pub(super) struct TlsRules {
    accepts_any: bool,
    versions: Versions,
    /// The cipher suites of TLS 1.2; none for all.
    cipher_suites: Vec<String>,
    /// Certificates of the client, each with the names of its servers.
    identities: Vec<(Vec<String>, IdentityPem)>,
    alpn: &'static [&'static str],
}

impl TlsRules {
    /// Returns the rules of options.
    ///
    /// # Errors
    /// If an option cannot be used.
    pub fn of(options: &Options, only_http1: bool) -> Result<Self, String> {
        let (versions, cipher_suites) = offered(options)?;
        let read = |(at, auth): (usize, &TlsAuth)| {
            let place = format!("tlsAuth[{at}]");
            let key = encrypted_key::decrypted(&auth.key, auth.password.as_deref())
                .map_err(|why| format!("{place}.key: {why}"))?;
            let pem = IdentityPem { chain: auth.cert.as_str().into(), key: key.into(), place };
            // What is wrong with it is said before the run begins.
            let settings = TlsSettings {
                identity: Some(Identity::Pem(pem.clone())),
                roots: Roots::AcceptAny,
                ..TlsSettings::new("localhost")
            };
            settings.load().map_err(|error| error.to_string())?;
            Ok::<_, String>((auth.domains.clone(), pem))
        };
        let identities = options.tls_auth.iter().flatten().enumerate().map(read).collect::<Result<_, _>>()?;
        let accepts_any = options.insecure_skip_tls_verify == Some(true);
        let alpn = if only_http1 { &PROTOCOLS[1..] } else { PROTOCOLS };
        Ok(Self { accepts_any, versions, cipher_suites, identities, alpn })
    }

    /// Returns the settings for a server.
    pub fn settings(&self, host: &str) -> TlsSettings {
        TlsSettings {
            roots: if self.accepts_any { Roots::AcceptAny } else { Roots::System },
            versions: self.versions,
            cipher_suites: self.cipher_suites.clone(),
            identity: self.identity(host).cloned().map(Identity::Pem),
            alpn: self.alpn.iter().map(|&protocol| protocol.to_owned()).collect(),
            ..TlsSettings::new(host)
        }
    }

    /// Returns the settings for a server of gRPC: what its script says of TLS takes the place of what the options say.
    ///
    /// # Errors
    /// If the key of the client cannot be decrypted.
    pub fn of_grpc(&self, host: &str, server: &GrpcServer) -> Result<TlsSettings, String> {
        let mut settings = self.settings(host);
        settings.alpn = vec![PROTOCOLS[0].to_owned()];
        if let Some(name) = &server.name {
            settings.name.clone_from(name);
        }
        let GrpcTls { signers, identity, password } = &server.tls;
        if !signers.is_empty() && !self.accepts_any {
            settings.roots = Roots::Pem { path: PathBuf::from("tls.cacerts"), content: signers.as_bytes().into() };
        }
        if let Some((chain, key)) = identity {
            let key = encrypted_key::decrypted(key, password.as_deref()).map_err(|why| format!("tls.key: {why}"))?;
            let pem = IdentityPem { chain: chain.as_str().into(), key: key.into(), place: "tls".to_owned() };
            settings.identity = Some(Identity::Pem(pem));
        }
        Ok(settings)
    }

    /// Returns the certificate for a server: the first one that names it, or else the first one of all, as Go's clients do.
    fn identity(&self, host: &str) -> Option<&IdentityPem> {
        let names = |(domains, _): &&(Vec<String>, _)| domains.iter().any(|domain| is_matched(domain, host));
        self.identities.iter().find(names).or_else(|| self.identities.first()).map(|(_, identity)| identity)
    }
}

/// Returns the versions and the cipher suites of TLS 1.2 that are offered.
fn offered(options: &Options) -> Result<(Versions, Vec<String>), String> {
    let versions = versions(options)?;
    let Some(wanted) = options.tls_cipher_suites.as_ref().filter(|names| !names.is_empty()) else {
        return Ok((versions, Vec::new()));
    };
    let known = tls::cipher_suites().map_err(|error: TlsError| error.to_string())?;
    let cipher_suites: Vec<_> =
        known.into_iter().filter(|name| wanted.iter().any(|wanted| is_suite(wanted, name))).collect();
    match (cipher_suites.is_empty(), versions) {
        (false, _) | (true, Versions::Tls13) => Ok((versions, cipher_suites)),
        // The cipher suites of TLS 1.3 are not for options to choose.
        (true, Versions::Both) => Ok((Versions::Tls13, cipher_suites)),
        (true, Versions::Tls12) => {
            Err("tlsCipherSuites: none of them is supported: use suites with ECDHE and GCM or ChaCha20".to_owned())
        }
    }
}

/// Returns whether a name of k6 stands for the cipher suite of a registered name.
fn is_suite(name: &str, registered: &str) -> bool {
    registered.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest == "_SHA256" && name.ends_with("POLY1305"))
}

/// Returns the cipher suites among those of the options that are not offered.
pub fn unsupported_suites(options: &Options) -> Vec<String> {
    let known = tls::cipher_suites().unwrap_or_default();
    let is_known = |name: &String| known.iter().any(|known| is_suite(name, known));
    let of_tls_1_3 = |name: &String| !name.contains("_WITH_");
    options.tls_cipher_suites.iter().flatten().filter(|name| !is_known(name) && !of_tls_1_3(name)).cloned().collect()
}

fn versions(options: &Options) -> Result<Versions, String> {
    let Some(given) = &options.tls_version else { return Ok(Versions::Both) };
    let min = given.min.as_deref().unwrap_or("tls1.0");
    let max = given.max.as_deref().unwrap_or("tls1.3");
    match (min == "tls1.3", max) {
        (true, _) => Ok(Versions::Tls13),
        (false, "tls1.3") => Ok(Versions::Both),
        (false, "tls1.2") => Ok(Versions::Tls12),
        (false, _) => Err("tlsVersion: TLS 1.0 and TLS 1.1 are not supported: use tls1.2 or tls1.3".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::TlsVersions;

    fn with(min: Option<&str>, max: Option<&str>, suites: &[&str]) -> Result<(Versions, Vec<String>), String> {
        let tls_version = Some(TlsVersions { min: min.map(str::to_owned), max: max.map(str::to_owned) });
        let tls_cipher_suites = Some(suites.iter().map(|&name| name.to_owned()).collect());
        offered(&Options { tls_version, tls_cipher_suites, ..Options::default() })
    }

    #[test]
    fn versions_are_those_that_are_supported() {
        for (min, max, expected) in [
            (None, None, Versions::Both),
            (Some("tls1.0"), Some("tls1.2"), Versions::Tls12),
            (Some("tls1.2"), None, Versions::Both),
            (Some("tls1.3"), Some("tls1.3"), Versions::Tls13),
        ] {
            assert_eq!(with(min, max, &[]), Ok((expected, Vec::new())), "{min:?} {max:?}");
        }
        assert!(with(Some("tls1.0"), Some("tls1.1"), &[]).is_err_and(|why| why.contains("TLS 1.1")));
    }

    #[test]
    fn cipher_suites_have_the_names_of_k6() {
        let offered = with(None, Some("tls1.2"), &["TLS_RSA_WITH_RC4_128_SHA", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305"]);
        let expected = vec!["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256".to_owned()];
        assert_eq!(offered, Ok((Versions::Tls12, expected)));
        assert_eq!(with(None, None, &["TLS_RSA_WITH_RC4_128_SHA"]), Ok((Versions::Tls13, Vec::new())));
        let none = with(None, Some("tls1.2"), &["TLS_RSA_WITH_RC4_128_SHA"]);
        assert!(none.is_err_and(|why| why.starts_with("tlsCipherSuites: ")));
    }
}
