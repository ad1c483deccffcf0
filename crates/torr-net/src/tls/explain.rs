//! Translation of errors of `rustls` into one line each for users: the fault and the remedy.

use super::TlsError;
use super::key::ShortKey;
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, OtherError, PeerIncompatible};
use std::fmt::{self, Debug};
use std::time::{Duration, UNIX_EPOCH};

/// The limit of a certificate's names in a line.
const MAX_NAMES: usize = 3;

/// The line for a server that requires a certificate of a client without one.
pub(super) const CERTIFICATE_REQUIRED: &str =
    "the server requires a client certificate: pass one with --cert and --key";

/// Translates an error of a connection on the client's side.
#[cold]
pub(super) fn to_client(error: Error) -> TlsError {
    match error {
        Error::InvalidCertificate(why) => {
            let (what, remedy) = certificate(&why);
            let remedy = match remedy {
                Remedy::Trust => "pass the issuer's certificate with --cacert, or skip the check with --insecure",
                Remedy::Clock => "check this machine's clock, or skip the check with --insecure",
                Remedy::Renew => "renew it on the server, or skip the check with --insecure",
                Remedy::Name => "use one of its names with --sni, or skip the check with --insecure",
                Remedy::ReplaceOnly => "replace the server's certificate",
                Remedy::Replace => {
                    "install an RSA or ECDSA P-256 certificate with a SHA-256 signature on the server, or skip the \
                     check with --insecure"
                }
            };
            TlsError::Untrusted(format!("{what}: {remedy}"))
        }
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => TlsError::NoTls,
        // The connection knows what it has offered.
        Error::NoApplicationProtocol | Error::AlertReceived(AlertDescription::NoApplicationProtocol) => {
            TlsError::Alpn(String::new())
        }
        Error::AlertReceived(alert) => {
            let line = match server_alert(alert) {
                Some(meaning) => format!("{meaning} (TLS alert: {})", snake(&alert)),
                None => format!("the server closed the connection (TLS alert: {})", snake(&alert)),
            };
            if alert == AlertDescription::HandshakeFailure { TlsError::Refused(line) } else { TlsError::Protocol(line) }
        }
        Error::PeerIncompatible(why) => TlsError::Protocol(in_common(&why, "the server")),
        error => TlsError::Protocol(other(&error, "the server")),
    }
}

/// Returns the error of a server that selects none of the offered protocols, with the flag that offers another one.
#[cold]
pub(super) fn no_protocol(offered: &[Vec<u8>]) -> TlsError {
    let offered = offered.iter().map(|protocol| String::from_utf8_lossy(protocol)).collect::<Vec<_>>().join(" or ");
    let hint = match offered.as_str() {
        "http/1.1" => ": use --http2",
        "h2" => ": drop --http2",
        "h3" => ": drop --http3",
        _ => "",
    };
    TlsError::Alpn(format!("{offered}{hint}"))
}

/// Translates an error of a connection on the server's side.
#[cold]
pub(super) fn to_server(error: Error) -> TlsError {
    match error {
        Error::InvalidCertificate(why) => TlsError::ClientUntrusted(certificate(&why).0),
        Error::NoCertificatesPresented => TlsError::NoClientCertificate,
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => TlsError::ClientNoTls,
        Error::NoApplicationProtocol => TlsError::ClientAlpn,
        Error::AlertReceived(alert) => TlsError::Protocol(match client_alert(alert) {
            Some(meaning) => format!("{meaning} (TLS alert: {})", snake(&alert)),
            None => format!("the client closed the connection (TLS alert: {})", snake(&alert)),
        }),
        Error::PeerIncompatible(why) => TlsError::Protocol(in_common(&why, "the client")),
        error => TlsError::Protocol(other(&error, "the client")),
    }
}

/// The remedy for a certificate that is not accepted.
enum Remedy {
    Trust,
    Clock,
    Renew,
    Name,
    Replace,
    /// As the key cannot be used at all, it does not help to accept the certificate.
    ReplaceOnly,
}

/// Returns the fault of a certificate as the predicate of a sentence, and the remedy.
fn certificate(error: &CertificateError) -> (String, Remedy) {
    use CertificateError as E;
    let day = |seconds: u64| {
        let time = UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).unwrap_or(UNIX_EPOCH);
        humantime::format_rfc3339_seconds(time).to_string().replace('T', " ").replace('Z', " UTC")
    };
    let (what, remedy) = match error {
        E::UnknownIssuer => ("is not signed by a trusted authority", Remedy::Trust),
        E::Other(OtherError(why)) if matches!(why.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity)) => (
            "is the certificate of an authority, which is accepted only if --cacert has this certificate",
            Remedy::Trust,
        ),
        E::ExpiredContext { not_after, .. } => {
            return (format!("expired on {}", day(not_after.as_secs())), Remedy::Renew);
        }
        E::Expired => ("has expired", Remedy::Renew),
        E::NotValidYetContext { not_before, .. } => {
            return (format!("is not valid before {}", day(not_before.as_secs())), Remedy::Clock);
        }
        E::NotValidYet => ("is not valid yet", Remedy::Clock),
        E::NotValidForNameContext { expected, presented } => {
            let expected = expected.to_str();
            return (format!("is valid {}, not for {expected}", names(presented)), Remedy::Name);
        }
        E::NotValidForName => ("is valid for other names only", Remedy::Name),
        E::BadSignature => ("has a signature that does not match the issuer's certificate", Remedy::Trust),
        E::UnsupportedSignatureAlgorithmContext { signature_algorithm_id, .. } => {
            let algorithm = Oid(signature_algorithm_id);
            return (format!("has an unsupported signature algorithm ({algorithm})"), Remedy::Replace);
        }
        E::UnsupportedSignatureAlgorithmForPublicKeyContext { signature_algorithm_id, public_key_algorithm_id } => {
            let (algorithm, key) = (Oid(signature_algorithm_id), Oid(public_key_algorithm_id));
            let what = format!("has an unsupported signature algorithm ({algorithm}, key: {key})");
            return (what, Remedy::Replace);
        }
        E::InvalidPurpose | E::InvalidPurposeContext { .. } => {
            ("does not permit this use (extended key usage)", Remedy::Replace)
        }
        E::Revoked => ("has been revoked", Remedy::Renew),
        E::BadEncoding => ("is malformed", Remedy::Replace),
        E::UnhandledCriticalExtension => ("has an unknown critical extension", Remedy::Replace),
        E::Other(OtherError(why)) if why.is::<ShortKey>() => return (why.to_string(), Remedy::ReplaceOnly),
        E::Other(OtherError(why)) => return (format!("is not accepted ({})", named(&why)), Remedy::Replace),
        other => return (format!("is not accepted ({})", named(other)), Remedy::Replace),
    };
    (what.into(), remedy)
}

/// Returns a text with the names of a certificate, which `rustls` formats as `DnsName("example.com")` and
/// `IpAddress(127.0.0.1)`.
fn names(presented: &[String]) -> String {
    let within = |name: &'_ str| Some(name.split_once('(')?.1.strip_suffix(')')?.trim_matches('"').to_owned());
    let bare = |name: &String| within(name).unwrap_or_else(|| name.clone());
    match presented {
        [] => "for no name (no subject alternative name)".into(),
        names if names.len() <= MAX_NAMES => {
            format!("for {}", names.iter().map(bare).collect::<Vec<_>>().join(", "))
        }
        names => {
            let first = names.iter().take(MAX_NAMES).map(bare).collect::<Vec<_>>().join(", ");
            format!("for {first} and {} others", names.len() - MAX_NAMES)
        }
    }
}

/// Returns the meaning of a server's alert for its client.
fn server_alert(alert: AlertDescription) -> Option<&'static str> {
    use AlertDescription as A;
    Some(match alert {
        A::HandshakeFailure | A::InsufficientSecurity => {
            "the server supports none of the offered cipher suites, key exchanges and signatures: it may support only \
             weak ones, or have an uncommon certificate"
        }
        A::ProtocolVersion => {
            "the server supports none of the offered TLS versions: drop --tls-max and --tlsv1.3 (versions before 1.2 \
             are not supported)"
        }
        A::UnrecognisedName => "the server has no certificate for this name: use one of its names with --sni",
        A::CertificateRequired | A::NoCertificate => CERTIFICATE_REQUIRED,
        A::AccessDenied => "the server denied access to this client: pass another certificate with --cert",
        A::BadCertificate
        | A::UnsupportedCertificate
        | A::CertificateRevoked
        | A::CertificateExpired
        | A::CertificateUnknown
        | A::UnknownCA => "the server rejected the client certificate, or requires one: check --cert and --key",
        A::InternalError => "the server failed during the handshake: see its log",
        _ => return None,
    })
}

/// Returns the meaning of a client's alert for its server.
fn client_alert(alert: AlertDescription) -> Option<&'static str> {
    use AlertDescription as A;
    Some(match alert {
        A::UnknownCA | A::CertificateUnknown | A::BadCertificate => {
            "the client does not trust this server's certificate, or expects another name"
        }
        A::CertificateExpired => "this server's certificate has expired, or is not yet valid by the client's clock",
        A::CertificateRevoked => "this server's certificate has been revoked",
        A::UnsupportedCertificate => "the client does not support this server's certificate type",
        A::ProtocolVersion => "the client supports none of this server's TLS versions",
        A::HandshakeFailure | A::InsufficientSecurity => {
            "the client accepts none of this server's cipher suites, key exchanges and signatures"
        }
        _ => return None,
    })
}

/// Returns a text with the parameter that both sides have no common value of; `peer` names the other side.
fn in_common(why: &PeerIncompatible, peer: &str) -> String {
    use PeerIncompatible as P;
    let lacks = match why {
        P::ServerDoesNotSupportTls12Or13
        | P::ServerTlsVersionIsDisabledByOurConfig
        | P::SupportedVersionsExtensionRequired
        | P::Tls12NotOffered
        | P::Tls12NotOfferedOrEnabled => "TLS version",
        P::NoCipherSuitesInCommon => "cipher suite",
        P::NoKxGroupsInCommon | P::NamedGroupsExtensionRequired | P::KeyShareExtensionRequired => "key exchange",
        P::NoSignatureSchemesInCommon
        | P::NoCertificateRequestSignatureSchemesInCommon
        | P::SignatureAlgorithmsExtensionRequired => "signature algorithm for the certificate's key",
        why => return format!("{peer} is not compatible ({})", named(why)),
    };
    format!("no common {lacks} with {peer}")
}

/// Returns a text for a rare error, with the words of `rustls`.
fn other(error: &Error, peer: &str) -> String {
    match error {
        Error::PeerMisbehaved(why) => format!("{peer} violated the TLS protocol ({})", named(why)),
        Error::InvalidMessage(why) => format!("{peer} sent a malformed TLS message ({})", named(why)),
        Error::DecryptError => format!("{peer} sent a record that cannot be decrypted"),
        error => error.to_string(),
    }
}

/// Returns the name of an error's variant without its fields, which may be raw bytes.
fn named(error: &impl Debug) -> String {
    let text = format!("{error:?}");
    text.split(|character: char| !character.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

/// Returns an alert's name in the spelling of RFC 8446, section 6.
fn snake(alert: &AlertDescription) -> String {
    match alert {
        AlertDescription::UnknownCA => return "unknown_ca".into(),
        AlertDescription::UnrecognisedName => return "unrecognized_name".into(),
        AlertDescription::Unknown(number) => return format!("number {number}"),
        _ => {}
    }
    let mut name = String::new();
    for character in named(alert).chars() {
        if character.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(character.to_ascii_lowercase());
    }
    name
}

/// The content of an AlgorithmIdentifier in DER (RFC 5280, section 4.1.1.2), displayed as the algorithm's name; for a key
/// on an elliptic curve, the curve's.
struct Oid<'b>(&'b [u8]);

/// The algorithms and curves of certificates, by their encoded identifiers.
const KNOWN: &[(&[u8], &str)] = &[
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01], "RSA"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x04], "RSA with MD5"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x05], "RSA with SHA-1"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0a], "RSA-PSS"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b], "RSA with SHA-256"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0c], "RSA with SHA-384"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0d], "RSA with SHA-512"),
    (&[0x2a, 0x86, 0x48, 0xce, 0x38, 0x04, 0x03], "DSA with SHA-1"),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07], "ECDSA P-256"),
    (&[0x2b, 0x81, 0x04, 0x00, 0x22], "ECDSA P-384"),
    (&[0x2b, 0x81, 0x04, 0x00, 0x23], "ECDSA P-521"),
    (&[0x2b, 0x81, 0x04, 0x00, 0x0a], "ECDSA secp256k1"),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x01], "ECDSA with SHA-1"),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02], "ECDSA with SHA-256"),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03], "ECDSA with SHA-384"),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x04], "ECDSA with SHA-512"),
    (&[0x2b, 0x65, 0x70], "Ed25519"),
    (&[0x2b, 0x65, 0x71], "Ed448"),
];

/// The identifier that precedes the identifier of a curve.
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];

impl fmt::Display for Oid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let content = match identifier(self.0) {
            Some((EC_PUBLIC_KEY, curve)) if identifier(curve).is_some() => return Oid(curve).fmt(f),
            Some((content, _)) => content,
            None => return f.write_str("an unnamed algorithm"),
        };
        match KNOWN.iter().find(|(known, _)| *known == content) {
            Some((_, name)) => f.write_str(name),
            None => write!(f, "OID {}", dotted(content)),
        }
    }
}

/// Splits an identifier in DER into its content and the bytes after it. Only lengths of one byte are supported, which all
/// algorithms have.
fn identifier(der: &[u8]) -> Option<(&[u8], &[u8])> {
    match der {
        [6, length @ 1..=0x7f, rest @ ..] => rest.split_at_checked(usize::from(*length)),
        _ => None,
    }
}

/// Returns an identifier in dotted notation (ITU-T X.690, section 8.19).
fn dotted(content: &[u8]) -> String {
    let (mut arcs, mut arc) = (Vec::new(), 0_u64);
    for byte in content {
        arc = (arc << 7) | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            if arcs.is_empty() {
                let first = (arc / 40).min(2);
                arcs.push(first);
                arc -= first * 40;
            }
            arcs.push(arc);
            arc = 0;
        }
    }
    arcs.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests;
