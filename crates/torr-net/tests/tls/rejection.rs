//! Rejected connections, and the alerts that give the reason.

use crate::authority::Authority;
use crate::pair::{Pair, client};
use proptest::prelude::*;
use std::sync::LazyLock;
use torr_net::tls::{
    Identity, IdentityPem, ServerTlsSettings, TlsAcceptor, TlsError, TlsSettings, Versions, cipher_suites,
};

fn protocols(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.into()).collect()
}

#[test]
fn the_protocol_is_the_servers_choice() {
    let authority = Authority::new();
    let alpn = protocols(&["h2", "http/1.1"]);
    let acceptor = ServerTlsSettings { alpn, ..authority.server() }.load().expect("the settings are right");
    for (offered, chosen) in [
        (&["http/1.1", "h2"][..], Some("h2")),
        (&["h2"], Some("h2")),
        (&["spdy/3", "http/1.1"], Some("http/1.1")),
        (&[], None),
    ] {
        let pair = Pair::secured(client(&TlsSettings { alpn: protocols(offered), ..authority.client() }), &acceptor);
        assert_eq!(pair.server.protocol(), chosen.map(str::as_bytes));
        assert_eq!(pair.client.protocol(), chosen.map(str::as_bytes));
    }
    let mut pair = Pair::begin(client(&TlsSettings { alpn: protocols(&["spdy/3"]), ..authority.client() }), &acceptor);
    assert_eq!(pair.run(), Err(TlsError::ClientAlpn));
    assert!(matches!(pair.run(), Err(TlsError::Alpn(_))), "the client is told");
}

#[test]
fn a_clients_certificate() {
    let authority = Authority::new();
    let stranger = Authority::new();
    for versions in [Versions::Tls12, Versions::Tls13] {
        let settings = ServerTlsSettings { client_roots: Some(authority.path()), versions, ..authority.server() };
        let acceptor = settings.load().expect("the settings are right");
        let with = |identity| client(&TlsSettings { identity, ..authority.client() });

        let mut pair = Pair::secured(with(Some(authority.identity("client", &["client.test"]).into())), &acceptor);
        assert_eq!(pair.server.client_certificates().count(), 1);
        pair.exchange();

        let mut pair = Pair::begin(with(None), &acceptor);
        assert_eq!(pair.run(), Err(TlsError::NoClientCertificate));
        let error = pair.run().expect_err("the client is told");
        assert!(matches!(&error, TlsError::Protocol(text) if text.contains("alert")), "{error}");

        let mut pair = Pair::begin(with(Some(stranger.identity("client", &["client.test"]).into())), &acceptor);
        let why = pair.run().expect_err("who has signed it is not trusted");
        assert!(matches!(why, TlsError::ClientUntrusted(_)), "{why}");
        let error = pair.run().expect_err("the client is told");
        assert!(matches!(&error, TlsError::Protocol(text) if text.contains("alert")), "{error}");
    }
    let acceptor = authority.server().load().expect("the settings are right");
    let identity = Some(authority.identity("client", &["client.test"]).into());
    let unasked = TlsSettings { identity, ..authority.client() };
    assert_eq!(Pair::secured(client(&unasked), &acceptor).server.client_certificates().count(), 0);
}

#[test]
fn a_clients_certificate_that_stands_in_memory() {
    let authority = Authority::new();
    let settings = ServerTlsSettings { client_roots: Some(authority.path()), ..authority.server() };
    let acceptor = settings.load().expect("the settings are right");
    let (certificate, key) = authority.identity("client", &["client.test"]);
    let read = |path| std::fs::read_to_string(path).expect("it is written");
    let pem = IdentityPem { chain: read(certificate).into(), key: read(key).into(), place: "here".to_owned() };
    assert!(!format!("{pem:?}").contains("PRIVATE"), "a key is not for logs");
    let with = |pem| TlsSettings { identity: Some(Identity::Pem(pem)), ..authority.client() };
    Pair::secured(client(&with(pem.clone())), &acceptor).exchange();
    for (chain, key) in [(&*pem.chain, ""), ("", &*pem.key)] {
        let error = with(IdentityPem { chain: chain.into(), key: key.into(), ..pem.clone() }).load().map(drop);
        assert!(matches!(&error, Err(TlsError::File(why)) if why.contains(" in here")), "{error:?}");
    }
}

#[test]
fn the_cipher_suites_of_tls_1_2_are_those_that_the_client_offers() {
    let authority = Authority::new();
    let acceptor =
        |versions| ServerTlsSettings { versions, ..authority.server() }.load().expect("the settings are right");
    let all = cipher_suites().expect("there is a provider");
    let offered = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256";
    assert!(all.iter().any(|name| name == offered) && !all.iter().any(|name| name.starts_with("TLS13")), "{all:?}");
    let offering = |names: &[&str]| TlsSettings { cipher_suites: protocols(names), ..authority.client() };
    let pair = Pair::secured(client(&offering(&[offered])), &acceptor(Versions::Tls12));
    assert_eq!(pair.client.negotiated().map(|tls| tls.cipher).as_deref(), Some(offered));
    let other = offering(&["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"]);
    assert!(Pair::begin(client(&other), &acceptor(Versions::Tls12)).run().is_err(), "the server has no key of RSA");
    Pair::secured(client(&other), &acceptor(Versions::Both)).exchange();
}

#[test]
fn a_client_that_does_not_trust_the_server() {
    let authority = Authority::new();
    let acceptor = authority.server().load().expect("the settings are right");
    let mut pair = Pair::begin(client(&Authority::new().client()), &acceptor);
    assert!(matches!(pair.run(), Err(TlsError::Untrusted(_))));
    let error = pair.run().expect_err("the server is told");
    assert!(matches!(&error, TlsError::Protocol(text) if text.contains("alert")), "{error}");
}

#[test]
fn what_is_not_tls() {
    let authority = Authority::new();
    let acceptor = authority.server().load().expect("the settings are right");
    let (mut server, mut out, mut plain) = (acceptor.accept().expect("it can be accepted"), vec![], vec![]);
    let mut request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec();
    assert_eq!(server.receive(&mut request, &mut out, &mut plain), Err(TlsError::ClientNoTls));
    assert_eq!(out.first(), Some(&21), "an alert: {out:?}");
    assert!(plain.is_empty() && server.is_handshaking());
    server.receive(&mut request, &mut out, &mut plain).expect_err("it stays of no use");
}

#[test]
fn a_greeting_without_an_end() {
    let authority = Authority::new();
    let acceptor = authority.server().load().expect("the settings are right");
    let header = |length: [u8; 2]| [&[22, 3, 1, 0, 4, 1, 0][..], &length].concat();
    let byte = [22, 3, 1, 0, 1, 0];
    // A message of the greatest length in records of a byte exceeds the limit of incomplete input.
    let (mut server, mut out, mut plain) = (acceptor.accept().expect("it can be accepted"), vec![], vec![]);
    server.receive(&mut header([0xff, 0xff]), &mut out, &mut plain).expect("a greeting may be so long");
    let kept = (0..0xffff).take_while(|_| server.receive(&mut byte.clone(), &mut out, &mut plain).is_ok()).count();
    assert!((10_000..25_000).contains(&kept), "{kept} records");
    // A message above the limit of its length.
    let mut server = acceptor.accept().expect("it can be accepted");
    let mut longer = header([0, 0]);
    longer[6] = 1;
    let result = server.receive(&mut longer, &mut out, &mut plain);
    assert!(matches!(&result, Err(TlsError::Protocol(_))), "{result:?}");
    // A record above the limit of its length.
    let mut server = acceptor.accept().expect("it can be accepted");
    let result = server.receive(&mut [22, 3, 1, 0xff, 0xff], &mut out, &mut plain);
    assert!(matches!(&result, Err(TlsError::Protocol(_))), "{result:?}");
    assert!(plain.is_empty());
}

#[test]
fn a_forged_record() {
    let authority = Authority::new();
    for versions in [Versions::Tls12, Versions::Tls13] {
        let acceptor = ServerTlsSettings { versions, ..authority.server() }.load().expect("the settings are right");
        let mut pair = Pair::secured(client(&authority.client()), &acceptor);
        pair.client.send(b"question", &mut pair.to_server).expect("it can be sent");
        *pair.to_server.last_mut().expect("there is a record") ^= 1;
        pair.run().expect_err("it is not what the client has sent");
        assert!(pair.at_server.is_empty());
        pair.run().expect_err("the client is told");
    }
}

static ACCEPTOR: LazyLock<(Authority, TlsAcceptor)> = LazyLock::new(|| {
    let authority = Authority::new();
    let acceptor = authority.server().load().expect("the settings are right");
    (authority, acceptor)
});

/// Passes random bytes to a new server in pieces, which never complete a handshake.
fn is_of_no_use(bytes: &mut [u8], most: usize) -> Result<(), TestCaseError> {
    let (mut server, mut out, mut plain) = (ACCEPTOR.1.accept().expect("it can be accepted"), vec![], vec![]);
    for piece in bytes.chunks_mut(most) {
        if server.receive(piece, &mut out, &mut plain).is_err() {
            break;
        }
    }
    prop_assert!(server.is_handshaking() && plain.is_empty());
    prop_assert!(server.send(b"answer", &mut out).is_err());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(mut bytes in prop::collection::vec(any::<u8>(), 0..600), most in 1_usize..600) {
        is_of_no_use(&mut bytes, most)?;
    }

    #[test]
    fn any_handshake(mut bytes in prop::collection::vec(any::<u8>(), 0..600), kind in 20_u8..25, most in 1_usize..600) {
        let length = (bytes.len() as u16).to_be_bytes();
        bytes.splice(0..0, [kind, 3, 1, length[0], length[1]]);
        is_of_no_use(&mut bytes, most)?;
    }

    #[test]
    fn a_greeting_with_mistakes(
        at in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        most in 1_usize..600,
    ) {
        let (mut greeting, mut client) = (vec![], client(&ACCEPTOR.0.client()));
        client.open(&mut greeting).expect("a connection can be opened");
        for (index, byte) in at {
            *index.get_mut(&mut greeting) = byte;
        }
        is_of_no_use(&mut greeting, most)?;
    }

    #[test]
    fn the_rest_of_a_handshake_with_mistakes(
        index in any::<prop::sample::Index>(), flip in 1_u8..=255, most in 1_usize..600,
    ) {
        let mut pair = Pair::begin(client(&ACCEPTOR.0.client()), &ACCEPTOR.1);
        pair.server.receive(&mut pair.to_server, &mut pair.to_client, &mut pair.at_server).expect("it is right");
        pair.to_server.clear();
        pair.client.receive(&mut pair.to_client, &mut pair.to_server, &mut pair.at_client).expect("it is right");
        pair.to_client.clear();
        pair.client.send(b"question", &mut pair.to_server).expect("it can be sent");
        *index.get_mut(&mut pair.to_server) ^= flip;
        let result = pair.run_by(most);
        prop_assert!(result.is_err() || pair.at_server.is_empty() || pair.at_server == b"question");
    }
}
