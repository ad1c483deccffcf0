//! The server's certificate is selected by the client's server name.

use crate::authority::Authority;
use crate::pair::{Pair, client};
use rcgen::{KeyPair, PKCS_ED25519};
use std::path::{Path, PathBuf};
use torr_net::tls::{Roots, ServerTlsSettings, TlsAcceptor, TlsError, TlsSettings};

/// Returns the certificate that a client with this server name receives, and the name that the server received.
fn shown(acceptor: &TlsAcceptor, name: &str) -> (String, Option<String>) {
    let settings = TlsSettings { roots: Roots::AcceptAny, ..TlsSettings::new(name) };
    let pair = Pair::secured(client(&settings), acceptor);
    let certificate = pair.client.server_certificates().next().expect("a certificate is shown");
    (format!("{certificate:?}"), pair.server.server_name().map(Into::into))
}

fn der(pem: &Path) -> String {
    use rustls::pki_types::{CertificateDer, pem::PemObject};
    format!("{:?}", CertificateDer::from_pem_file(pem).expect("it is a certificate").as_ref())
}

#[test]
fn by_the_names_in_them() {
    let authority = Authority::new();
    let first = authority.identity("first", &["first.test", "192.0.2.1"]);
    let second = authority.identity("second", &["Second.test", "also.second.test"]);
    let wild = authority.identity("wild", &["*.wild.test", "wild.test"]);
    let inner = authority.identity("inner", &["inner.wild.test"]);
    let identities = vec![first.clone(), second.clone(), wild.clone(), inner.clone()];
    let acceptor = ServerTlsSettings { identities, ..authority.server() }.load().expect("the settings are right");
    for (name, (expected, _)) in [
        ("first.test", &first),
        ("second.test", &second),
        ("ALSO.Second.Test", &second),
        ("wild.test", &wild),
        ("any.wild.test", &wild),
        ("inner.wild.test", &inner),
        // A wildcard stands for one label.
        ("two.labels.wild.test", &first),
        ("nobody.test", &first),
        ("test", &first),
    ] {
        let heard = Some(name.to_lowercase());
        assert_eq!(shown(&acceptor, name), (der(expected), heard), "{name}");
    }
    // SNI does not carry IP addresses.
    assert_eq!(shown(&acceptor, "192.0.2.7"), (der(&first.0), None));
}

#[test]
fn files_that_are_of_no_use() {
    let authority = Authority::new();
    let (certificate, key) = authority.identity("one", &["one.test"]);
    let (other, other_key) = authority.identity("other", &["other.test"]);
    let empty = authority.folder.path().join("empty.pem");
    std::fs::write(&empty, "").expect("a file can be written");
    let odd = authority.folder.path().join("odd.pem");
    let request = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    std::fs::write(&odd, request).expect("a file can be written");
    let missing = PathBuf::from("/nowhere/of-any-use.pem");
    let server = |certificate: &PathBuf, key: &PathBuf| ServerTlsSettings::new(certificate, key);
    let roots = |path: &PathBuf| ServerTlsSettings { client_roots: Some(path.clone()), ..server(&certificate, &key) };
    let second = ServerTlsSettings {
        identities: vec![(certificate.clone(), key.clone()), (other.clone(), key.clone())],
        ..server(&certificate, &key)
    };
    for (settings, file) in [
        (server(&certificate, &other_key), &other_key),
        (server(&certificate, &other_key), &certificate),
        (second, &other),
        (server(&empty, &key), &empty),
        (server(&odd, &key), &odd),
        (server(&missing, &key), &missing),
        (server(&certificate, &missing), &missing),
        (server(&certificate, &certificate), &certificate),
        (server(&certificate, &empty), &empty),
        (roots(&missing), &missing),
        (roots(&empty), &empty),
        (roots(&odd), &odd),
    ] {
        let error = settings.load().expect_err("the files are of no use");
        let text = error.to_string();
        assert!(matches!(error, TlsError::File(_)), "{text}");
        assert!(text.contains(&*file.to_string_lossy()) && !text.contains('\n'), "{text}");
    }
    let nothing = ServerTlsSettings { identities: vec![], ..server(&certificate, &key) };
    assert!(matches!(nothing.load(), Err(TlsError::File(_))));
}

#[test]
fn a_chain_and_its_key_in_one_file() {
    let authority = Authority::new();
    let (certificate, key) = authority.identity("one", &["localhost"]);
    let both = authority.folder.path().join("both.pem");
    let text = [key, certificate, authority.path()].map(|path| std::fs::read_to_string(path).expect("it is there"));
    std::fs::write(&both, text.concat()).expect("a file can be written");
    let acceptor = ServerTlsSettings::new(&both, &both).load().expect("the settings are right");
    let mut pair = Pair::secured(client(&authority.client()), &acceptor);
    assert_eq!(pair.client.server_certificates().count(), 2);
    pair.exchange();
}

#[test]
fn keys_of_every_kind() {
    let authority = Authority::new();
    for kind in [&rcgen::PKCS_ECDSA_P384_SHA384, &PKCS_ED25519] {
        assert!(KeyPair::generate_for(kind).is_ok());
        let (certificate, key) = authority.identity_by("kind", &["localhost"], kind);
        let acceptor = ServerTlsSettings::new(certificate, key).load().expect("the settings are right");
        Pair::secured(client(&authority.client()), &acceptor).exchange();
    }
}
