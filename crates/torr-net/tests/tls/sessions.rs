//! Resumption of sessions by later connections.

use crate::authority::Authority;
use crate::pair::{Pair, client};
use torr_net::tls::{Resumption, ServerTlsSettings, TlsSettings, Versions};

#[test]
fn tickets_of_either_version() {
    let authority = Authority::new();
    for versions in [Versions::Tls12, Versions::Tls13] {
        let acceptor = ServerTlsSettings { versions, ..authority.server() }.load().expect("the settings are right");
        let mut pair = Pair::secured(client(&authority.client()), &acceptor);
        assert!(!pair.is_resumed());
        for _ in 0..3 {
            pair = Pair::secured(pair.client, &acceptor);
            assert!(pair.is_resumed());
            pair.exchange();
        }
    }
}

#[test]
fn a_ticket_is_good_in_another_thread() {
    let authority = Authority::new();
    let acceptor = authority.server().load().expect("the settings are right");
    let pair = Pair::secured(client(&authority.client()), &acceptor);
    let other = acceptor.clone();
    let later = std::thread::spawn(move || Pair::secured(pair.client, &other).is_resumed());
    assert!(later.join().expect("the thread ends well"));
}

#[test]
fn another_process_passes_over_a_ticket() {
    let authority = Authority::new();
    for versions in [Versions::Tls12, Versions::Tls13] {
        let settings = ServerTlsSettings { versions, ..authority.server() };
        let (one, other) = (settings.load().expect("right"), settings.load().expect("right"));
        let pair = Pair::secured(client(&authority.client()), &one);
        let mut pair = Pair::secured(pair.client, &other);
        assert!(!pair.is_resumed());
        pair.exchange();
    }
}

#[test]
fn no_tickets_where_none_are_wanted() {
    let authority = Authority::new();
    for versions in [Versions::Tls12, Versions::Tls13] {
        let settings = ServerTlsSettings { versions, resumption: false, ..authority.server() };
        let acceptor = settings.load().expect("the settings are right");
        let pair = Pair::secured(client(&authority.client()), &acceptor);
        assert!(!Pair::secured(pair.client, &acceptor).is_resumed());
    }
    let acceptor = authority.server().load().expect("the settings are right");
    let pair = Pair::secured(client(&TlsSettings { resumption: Resumption::Off, ..authority.client() }), &acceptor);
    assert!(!Pair::secured(pair.client, &acceptor).is_resumed());
}

#[test]
fn a_resumed_session_has_names_protocol_and_certificate() {
    let authority = Authority::new();
    for versions in [Versions::Tls12, Versions::Tls13] {
        let alpn = vec!["http/1.1".into()];
        let settings = ServerTlsSettings { client_roots: Some(authority.path()), alpn, versions, ..authority.server() };
        let acceptor = settings.load().expect("the settings are right");
        let identity = Some(authority.identity("client", &["client.test"]).into());
        let settings = TlsSettings { identity, alpn: vec!["http/1.1".into()], ..authority.client() };
        let pair = Pair::secured(client(&settings), &acceptor);
        let shown = pair.server.client_certificates().map(<[u8]>::to_vec).collect::<Vec<_>>();
        assert_eq!(shown.len(), 1);
        let pair = Pair::secured(pair.client, &acceptor);
        assert!(pair.is_resumed());
        assert_eq!(pair.server.server_name(), Some("localhost"));
        assert_eq!(pair.server.protocol(), Some(&b"http/1.1"[..]));
        assert!(pair.server.client_certificates().eq(shown));
    }
}
