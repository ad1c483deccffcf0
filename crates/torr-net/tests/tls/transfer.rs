//! Data arrives unchanged, however the bytes in flight are split.

use crate::authority::Authority;
use crate::pair::{Pair, client};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::io::Read;
use std::sync::Arc;
use torr_net::tls::{ServerTlsSettings, TlsAcceptor, TlsServer, TlsSettings, Versions};

const VERSIONS: [(Versions, &str); 2] = [(Versions::Tls12, "TLSv1.2"), (Versions::Tls13, "TLSv1.3")];

#[test]
fn both_ways_by_either_version() {
    let authority = Authority::new();
    for (versions, name) in VERSIONS {
        let acceptor = ServerTlsSettings { versions, ..authority.server() }.load().expect("the settings are right");
        let mut pair = Pair::secured(client(&authority.client()), &acceptor);
        let secured = pair.server.negotiated().expect("the handshake is done");
        assert_eq!(secured.version, name);
        assert!(!pair.is_resumed() && secured.group.is_some() && !secured.cipher.is_empty());
        pair.exchange();
        pair.exchange();
    }
}

#[test]
fn a_version_that_the_server_does_not_speak() {
    let authority = Authority::new();
    let acceptor = ServerTlsSettings { versions: Versions::Tls13, ..authority.server() }.load().expect("right");
    let old = TlsSettings { versions: Versions::Tls12, ..authority.client() };
    let mut pair = Pair::begin(client(&old), &acceptor);
    pair.run().expect_err("there is no version in common");
    assert_eq!(pair.to_client.first(), Some(&21), "the client is told by an alert");
}

#[test]
fn much_data_in_pieces() {
    let authority = Authority::new();
    let text = (0..3_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect::<Vec<_>>();
    for (versions, _) in VERSIONS {
        let acceptor = ServerTlsSettings { versions, ..authority.server() }.load().expect("the settings are right");
        let mut pair = Pair::secured(client(&authority.client()), &acceptor);
        // Data below a record's limit, and of several records.
        for most in [7_001, 70_001] {
            (pair.at_server, pair.at_client) = (vec![], vec![]);
            pair.client.send(&text, &mut pair.to_server).expect("it can be sent");
            pair.server.send(&text, &mut pair.to_client).expect("it can be sent");
            pair.run_by(most).expect("both understand");
            assert!(pair.at_server == text && pair.at_client == text);
        }
    }
}

#[test]
fn every_byte_by_itself() {
    let authority = Authority::new();
    for (versions, _) in VERSIONS {
        let acceptor = ServerTlsSettings { versions, ..authority.server() }.load().expect("the settings are right");
        let mut pair = Pair::begin(client(&authority.client()), &acceptor);
        pair.run_by(1).expect("both understand");
        pair.client.send(b"question", &mut pair.to_server).expect("it can be sent");
        pair.server.send(b"answer", &mut pair.to_client).expect("it can be sent");
        pair.run_by(1).expect("both understand");
        assert_eq!((&pair.at_server[..], &pair.at_client[..]), (&b"question"[..], &b"answer"[..]));
    }
}

#[test]
fn records_cut_anywhere() {
    let authority = Authority::new();
    let acceptor = authority.server().load().expect("the settings are right");
    let mut pair = Pair::secured(client(&authority.client()), &acceptor);
    let mut length = 1;
    let mut cut = 0;
    while cut < length {
        pair.at_server.clear();
        pair.client.send(b"one", &mut pair.to_server).expect("it can be sent");
        pair.client.send(b"two", &mut pair.to_server).expect("it can be sent");
        let mut records = std::mem::take(&mut pair.to_server);
        length = records.len();
        let (front, back) = records.split_at_mut(cut);
        pair.server.receive(front, &mut pair.to_client, &mut pair.at_server).expect("a part is no mistake");
        assert!(cut < length / 2 || pair.at_server == b"one", "the first is given as soon as it is whole");
        pair.server.receive(back, &mut pair.to_client, &mut pair.at_server).expect("the rest");
        assert_eq!(pair.at_server, b"onetwo");
        cut += 1;
    }
    pair.exchange();
}

#[test]
fn a_client_that_says_all_at_once_and_leaves() {
    let authority = Authority::new();
    for (versions, _) in VERSIONS {
        let acceptor = ServerTlsSettings { versions, ..authority.server() }.load().expect("the settings are right");
        let mut pair = Pair::begin(client(&authority.client()), &acceptor);
        while pair.client.is_handshaking() {
            pair.server.receive(&mut pair.to_server, &mut pair.to_client, &mut vec![]).expect("it goes on");
            pair.to_server.clear();
            pair.client.receive(&mut pair.to_client, &mut pair.to_server, &mut vec![]).expect("it goes on");
            pair.to_client.clear();
        }
        // In TLS 1.3 the end of the client's handshake arrives with these records.
        pair.client.send(b"question", &mut pair.to_server).expect("it can be sent");
        pair.client.close_notify(&mut pair.to_server);
        pair.to_server.extend_from_slice(b"what comes after its last word is ignored");
        pair.run().expect("both understand");
        assert!(pair.server.is_closed() && !pair.server.is_handshaking());
        assert_eq!(pair.at_server, b"question");
        pair.to_server.extend_from_slice(b"also later");
        pair.run().expect("it is ignored");

        pair.server.send(b"answer", &mut pair.to_client).expect("it is still answered");
        pair.server.close_notify(&mut pair.to_client);
        let said = pair.to_client.len();
        pair.server.close_notify(&mut pair.to_client);
        assert_eq!(pair.to_client.len(), said, "the end is said once");
        pair.run().expect("both understand");
        assert_eq!(pair.at_client, b"answer");
        assert!(pair.client.is_closed());
    }
}

/// Sending between the pieces of an incomplete handshake message must not move the pieces, whose offsets `rustls` keeps.
#[test]
fn a_ticket_in_many_records_while_the_client_talks() {
    let authority = Authority::new();
    let (certificate, key) = authority.identity("server", &["localhost"]);
    let chain = vec![CertificateDer::from_pem_file(certificate).expect("it is a certificate")];
    let key = PrivateKeyDer::from_pem_file(key).expect("it is a key");
    let builder = rustls::ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().expect("there are versions").with_no_client_auth();
    let mut config = builder.with_single_cert(chain, key).expect("they belong together");
    config.ticketer = ring::Ticketer::new().expect("keys can be made");
    config.max_fragment_size = Some(32);
    let mut server = rustls::ServerConnection::new(Arc::new(config)).expect("the settings are right");
    let (mut client, mut to_server, mut at_client) = (client(&authority.client()), vec![], vec![]);
    client.open(&mut to_server).expect("a connection can be opened");
    let (mut sent, mut received) = (0, 0);
    while server.wants_write() || !to_server.is_empty() {
        let mut given = std::mem::take(&mut to_server);
        let mut rest = &given[..];
        while !rest.is_empty() {
            server.read_tls(&mut rest).expect("memory can be read");
            received += server.process_new_packets().expect("it is right").plaintext_bytes_to_read();
            // An error means that there are no more bytes yet.
            while server.reader().read(&mut [0; 4096]).is_ok_and(|length| length > 0) {}
        }
        given.clear();
        while server.wants_write() {
            server.write_tls(&mut given).expect("memory can be written");
        }
        for byte in given.chunks_mut(1) {
            client.receive(byte, &mut to_server, &mut at_client).expect("it is right");
            if !client.is_handshaking() {
                client.send(b"question", &mut to_server).expect("it can be sent");
                sent += 8;
            }
        }
    }
    assert!(sent > 800 && received == sent, "{sent} sent, {received} received");
}

#[test]
fn nothing_is_sent_before_the_handshake_is_done() {
    let authority = Authority::new();
    let acceptor = authority.server().load().expect("the settings are right");
    let (mut server, mut out) = (acceptor.accept().expect("it can be accepted"), Vec::new());
    server.send(b"answer", &mut out).expect_err("there are no keys yet");
    server.close_notify(&mut out);
    assert!(out.is_empty() && server.negotiated().is_none() && server.is_handshaking() && !server.is_closed());
}

#[test]
fn acceptors_are_for_all_threads() {
    fn shared<T: Clone + Send + Sync>() {}
    fn moved<T: Send>() {}
    shared::<TlsAcceptor>();
    moved::<TlsServer>();
}

/// These tests are built without a default provider of `rustls` (its feature `custom-provider`), as in a program with two
/// providers, where a use of the default panics. This crate names its provider, and leaves the default to the program.
#[test]
fn no_default_of_the_process_is_needed_or_made() {
    let authority = Authority::new();
    let settings = ServerTlsSettings { client_roots: Some(authority.path()), ..authority.server() };
    let identity = Some(authority.identity("client", &["client.test"]).into());
    let acceptor = settings.load().expect("the settings are right");
    Pair::secured(client(&TlsSettings { identity, ..authority.client() }), &acceptor).exchange();
    acceptor.reload().expect("the files are as they were");
    assert!(rustls::crypto::CryptoProvider::get_default().is_none(), "it is the program's to install one");
    #[allow(clippy::disallowed_methods, reason = "that it cannot be called is what is shown")]
    let by_default = std::panic::catch_unwind(|| drop(rustls::ServerConfig::builder()));
    assert!(by_default.is_err(), "the tests are not built as they should be");
}
