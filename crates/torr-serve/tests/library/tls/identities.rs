//! Server names and client certificates.

use super::scene::{Scene, Secure, VERSIONS, app, certificates, shown};
use rustls::HandshakeKind;
use std::io::{Read, Write};
use std::sync::Arc;
use torr_serve::{App, Response};
use torr_test_support::certificates::{client_of_an_authority, for_names};
use torr_test_support::client::get;

#[test]
fn the_server_name_selects_the_certificate() {
    let app = App::new().get("/", |request| {
        let name = request.tls().and_then(|tls| tls.server_name.clone());
        Response::ok("a/b", format!("{name:?}").into_bytes())
    });
    let scene = Scene::with(app, |settings, folder| {
        let tls = settings.tls.as_mut().expect("it has one");
        tls.identities.push(for_names(folder, "one", &["one.test", "uno.test"]));
        tls.identities.push(for_names(folder, "many", &["*.many.test"]));
    });
    for (name, file) in [
        ("localhost", "server"),
        ("one.test", "one"),
        ("uno.test", "one"),
        ("a.many.test", "many"),
        // An address is not sent as a server name.
        ("127.0.0.1", "server"),
    ] {
        for version in VERSIONS {
            let config = Arc::new(scene.config(&[version], None));
            let mut client = Secure::connect(scene.server.address, config, name).expect("the handshake succeeds");
            let expected = certificates(&scene.folder.path().join(format!("{file}.pem")));
            assert_eq!(client.stream.conn.peer_certificates(), Some(&*expected), "{name} {version:?}");
            let described = if name == "127.0.0.1" { "None".to_owned() } else { format!("Some({name:?})") };
            assert_eq!(client.get("/"), described, "{name} {version:?}");
        }
    }
    // One that none is for: the first is shown, and such a client does not believe it.
    let config = Arc::new(scene.config(&VERSIONS, None));
    let refused = Secure::connect(scene.server.address, config, "other.test").map(drop);
    assert!(refused.is_err_and(|error| error.to_string().contains("not valid for name")));
}

#[test]
fn sessions_go_on_also_with_another_worker() {
    for version in VERSIONS {
        let scene = Scene::with(app(), |settings, _| settings.workers = 4);
        let config = Arc::new(scene.config(&[version], None));
        let kinds: Vec<_> = (0..20)
            .map(|_| {
                let mut client = scene.connect(Arc::clone(&config));
                // The ticket comes behind the handshake.
                assert_eq!(client.get("/"), "fine");
                client.stream.conn.handshake_kind()
            })
            .collect();
        assert_eq!(kinds[0], Some(HandshakeKind::Full), "{version:?}");
        assert!(kinds[1..].iter().all(|kind| *kind == Some(HandshakeKind::Resumed)), "{version:?}: {kinds:?}");
    }
}

#[test]
fn a_client_without_the_right_certificate_is_not_let_in() {
    let others = tempfile::tempdir().expect("there is room for temporary files");
    let (_, certificate, key) = client_of_an_authority(others.path());
    let wrong = (certificate, key);
    let app = App::new().get("/", |request| {
        let shown = request.tls().and_then(|tls| tls.client_certificates.first().cloned());
        Response::ok("a/b", shown.unwrap_or_default())
    });
    let mut right = None;
    let scene = Scene::with(app, |settings, folder| {
        let (authority, certificate, key) = client_of_an_authority(folder);
        settings.tls.as_mut().expect("it has one").client_roots = Some(authority);
        right = Some((certificate, key));
    });
    let right = right.expect("it was just set");
    for version in VERSIONS {
        let mut client = scene.connect(Arc::new(scene.config(&[version], shown(&right))));
        client.send(get("/"));
        assert_eq!(client.response().1, certificates(&right.0)[0].to_vec(), "{version:?}");

        // The other authority has the same name, so that its signature is what is found to be wrong.
        for (what, alert) in [(None, "CertificateRequired"), (shown(&wrong), "DecryptError")] {
            let config = Arc::new(scene.config(&[version], what));
            // With TLS 1.3 the client is done before the server has looked at what it shows.
            let refused = Secure::connect(scene.server.address, config, "localhost").and_then(|mut client| {
                let _ = client.stream.write_all(get("/").as_bytes());
                client.stream.read_to_end(&mut Vec::new())
            });
            let error = refused.expect_err("it is not let in").to_string();
            // Before TLS 1.3 there is no alert of its own for one that is missing.
            let missing = what.is_none() && error.contains("HandshakeFailure");
            assert!(error.contains(alert) || missing, "{version:?}, {alert}: {error}");
        }
    }
}

#[test]
fn protocols_are_offered_as_they_are_spoken() {
    let offer = |scene: &Scene, protocols: &[&str]| {
        let mut config = scene.config(&VERSIONS, None);
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        Secure::connect(scene.server.address, Arc::new(config), "localhost")
            .map(|client| client.stream.conn.alpn_protocol().map(<[u8]>::to_vec))
            .map_err(|error| error.to_string())
    };
    let both = Scene::set();
    let first_only = Scene::with(app(), |settings, _| settings.http2 = false);
    for (scene, offered, agreed) in [
        (&both, &["h2", "http/1.1"][..], Some("h2")),
        (&both, &["http/1.1", "h2"], Some("h2")),
        (&both, &["http/1.1"], Some("http/1.1")),
        (&both, &[], None),
        (&first_only, &["h2", "http/1.1"], Some("http/1.1")),
        (&first_only, &[], None),
    ] {
        assert_eq!(offer(scene, offered), Ok(agreed.map(|protocol| protocol.as_bytes().to_vec())), "{offered:?}");
    }
    for (scene, offered) in [(&first_only, "h2"), (&both, "spdy/3")] {
        let refused = offer(scene, &[offered]).expect_err("there is nothing to agree on");
        assert!(refused.contains("NoApplicationProtocol"), "{offered}: {refused}");
    }
}
