//! Server certificates that a client accepts with the trusted certificates of a file.

use crate::authority::Authority;
use crate::pair::{Pair, client};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use std::path::Path;
use torr_net::tls::{Roots, ServerTlsSettings, TlsError, TlsSettings};

/// The signer of the server's certificate.
#[derive(Debug, Clone, Copy)]
enum Signed {
    /// The certificate's own key.
    OwnKey,
    /// The certificate's own key, in a certificate that is marked as an authority, as `openssl req -x509` makes it.
    OwnKeyAsAuthority,
    /// An authority that the client does not know.
    UnknownAuthority,
}

/// The validity of the certificate.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Valid {
    Now,
    Before,
    Later,
}

/// Writes a certificate for localhost and its key to the folder.
fn server(folder: &Path, signed: Signed, valid: Valid) -> ServerTlsSettings {
    let mut params = CertificateParams::new(["localhost".to_owned()]).expect("the name is a name");
    (params.not_before, params.not_after) = match valid {
        Valid::Now => (params.not_before, params.not_after),
        Valid::Before => (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 2, 3)),
        Valid::Later => (date_time_ymd(3000, 4, 5), date_time_ymd(3001, 1, 1)),
    };
    let key = KeyPair::generate().expect("a key can be made");
    let certificate = match signed {
        Signed::OwnKey => params.self_signed(&key),
        Signed::OwnKeyAsAuthority => {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params.self_signed(&key)
        }
        Signed::UnknownAuthority => {
            let mut authority = CertificateParams::default();
            authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().expect("a key can be made"));
            params.signed_by(&key, &authority.expect("it is an authority"))
        }
    };
    let paths = (folder.join("server.pem"), folder.join("server.key"));
    std::fs::write(&paths.0, certificate.expect("it can be signed").pem()).expect("a file can be written");
    std::fs::write(&paths.1, key.serialize_pem()).expect("a file can be written");
    ServerTlsSettings::new(paths.0, paths.1)
}

/// Creates a client that trusts the server's certificate, and requests this name.
fn trusting(server: &ServerTlsSettings, name: &str) -> TlsSettings {
    TlsSettings { roots: Roots::File(server.identities[0].0.clone()), ..TlsSettings::new(name) }
}

#[test]
fn a_given_certificate_is_accepted_only_while_it_is_valid() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for signed in [Signed::OwnKey, Signed::OwnKeyAsAuthority, Signed::UnknownAuthority] {
        for (valid, word) in
            [(Valid::Now, ""), (Valid::Before, "expired on 2021-02-03"), (Valid::Later, "not valid before 3000-04-05")]
        {
            let server = server(folder.path(), signed, valid);
            let acceptor = server.load().expect("the settings are right");
            let result = Pair::begin(client(&trusting(&server, "localhost")), &acceptor).run();
            match valid {
                Valid::Now => assert_eq!(result, Ok(()), "{signed:?}"),
                _ => assert!(
                    matches!(&result, Err(TlsError::Untrusted(why)) if why.contains(word)),
                    "{signed:?}, {valid:?}: {result:?}"
                ),
            }
            // A trusted certificate is still verified against the name.
            let result = Pair::begin(client(&trusting(&server, "other.test")), &acceptor).run();
            assert!(matches!(result, Err(TlsError::Untrusted(_))), "{signed:?}, {valid:?}: {result:?}");
        }
    }
}

#[test]
fn an_expired_certificate_of_a_trusted_authority_is_refused() {
    let authority = Authority::new();
    let expired = authority.identity_until("server", &["localhost"], 2021);
    let acceptor = ServerTlsSettings::new(expired.0, expired.1).load().expect("the settings are right");
    let result = Pair::begin(client(&authority.client()), &acceptor).run();
    assert!(matches!(&result, Err(TlsError::Untrusted(why)) if why.contains("expired on")), "{result:?}");
}
