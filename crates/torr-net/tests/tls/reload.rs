//! Reloading of files while connections are open.

use crate::authority::Authority;
use crate::pair::{Pair, client};
use torr_net::tls::{ServerTlsSettings, TlsError, TlsSettings, Versions};

fn shown(pair: &Pair) -> Vec<u8> {
    pair.client.server_certificates().next().expect("a certificate is shown").to_vec()
}

#[test]
fn new_connections_get_the_new_certificate_and_old_ones_go_on() {
    let authority = Authority::new();
    for versions in [Versions::Tls12, Versions::Tls13] {
        let acceptor = ServerTlsSettings { versions, ..authority.server() }.load().expect("the settings are right");
        let mut open = Pair::secured(client(&authority.client()), &acceptor);
        let mut half = Pair::begin(open.client.with_shared_sessions(), &acceptor);
        authority.identity("server", &["localhost"]);
        let unchanged = Pair::secured(client(&authority.client()), &acceptor);
        assert_eq!(shown(&unchanged), shown(&open), "files are read when they are asked to be");

        acceptor.clone().reload().expect("the files are right");
        assert_ne!(shown(&Pair::secured(client(&authority.client()), &acceptor)), shown(&open));
        open.exchange();
        half.run().expect("it goes on");
        half.exchange();
        assert!(Pair::secured(open.client.with_shared_sessions(), &acceptor).is_resumed(), "tickets stay good");
    }
}

#[test]
fn what_was_read_stays_if_the_files_are_of_no_use() {
    let authority = Authority::new();
    let settings = authority.server();
    let acceptor = settings.load().expect("the settings are right");
    let before = Pair::secured(client(&authority.client()), &acceptor);
    let (_, other_key) = authority.identity("other", &["localhost"]);
    std::fs::copy(other_key, &settings.identities[0].1).expect("a file can be written");
    assert!(matches!(acceptor.reload(), Err(TlsError::File(_))));
    let after = Pair::secured(client(&authority.client()), &acceptor);
    assert_eq!(shown(&before), shown(&after));
    std::fs::remove_file(&settings.identities[0].0).expect("it is there");
    assert!(matches!(acceptor.reload(), Err(TlsError::File(_))));
    assert!(Pair::secured(after.client, &acceptor).is_resumed());
}

#[test]
fn a_client_that_is_not_trusted_any_more_does_not_come_in_by_a_ticket() {
    let (authority, other) = (Authority::new(), Authority::new());
    let roots = authority.folder.path().join("roots.pem");
    std::fs::copy(authority.path(), &roots).expect("a file can be written");
    for versions in [Versions::Tls12, Versions::Tls13] {
        std::fs::copy(authority.path(), &roots).expect("a file can be written");
        let settings = ServerTlsSettings { client_roots: Some(roots.clone()), versions, ..authority.server() };
        let acceptor = settings.load().expect("the settings are right");
        let identity = Some(authority.identity("client", &["client.test"]).into());
        let pair = Pair::secured(client(&TlsSettings { identity, ..authority.client() }), &acceptor);
        acceptor.reload().expect("the files are right");
        let pair = Pair::secured(pair.client, &acceptor);
        assert!(pair.is_resumed(), "nothing has changed");

        std::fs::copy(other.path(), &roots).expect("a file can be written");
        acceptor.reload().expect("the files are right");
        let mut pair = Pair::begin(pair.client, &acceptor);
        assert!(matches!(pair.run(), Err(TlsError::ClientUntrusted(_))));
    }
}
