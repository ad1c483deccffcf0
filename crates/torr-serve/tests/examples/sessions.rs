//! `examples/sessions.rs`.

use crate::program::{ClientResponse, Example};

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

/// The cookie that a response sets, and its attributes in order.
fn cookie(response: &ClientResponse) -> (String, Vec<String>) {
    let set = response.field("Set-Cookie").expect("it sets a cookie");
    let mut parts = set.split("; ").map(str::to_owned);
    let cookie = parts.next().expect("a text has a first part");
    let mut attributes: Vec<_> = parts.collect();
    attributes.sort_unstable();
    (cookie, attributes)
}

#[test]
fn a_session_lasts_from_login_to_logout() {
    let sessions = Example::start("sessions", &[]);
    assert_eq!(sessions.get("/me").status_and_text(), (401, "log in first\n"));
    let login = |name: &str, fields: &[(&str, &str)]| {
        let response = sessions.send("POST /login", &[&[FORM], fields].concat(), format!("name={name}"));
        assert_eq!(response.status_and_text(), (200, &*format!("welcome, {name}\n")));
        cookie(&response)
    };
    let (ann, attributes) = login("ann", &[]);
    assert!(ann.strip_prefix("session=").is_some_and(|id| id.len() >= 20), "{ann} can be guessed");
    assert_eq!(attributes, ["HttpOnly", "Max-Age=1800", "Path=/", "SameSite=Lax"]);
    let (bob, _) = login("bob", &[]);
    assert_ne!(ann, bob);

    // On connections of their own: whichever worker has a request knows the session.
    let me = |cookie: &str| {
        let mut client = sessions.client();
        client.send(format!("GET /me HTTP/1.1\r\nHost: x\r\nCookie: {cookie}\r\n\r\n"));
        let response = client.response();
        (response.status, response.text().to_owned())
    };
    for visit in 1..=8 {
        assert_eq!(me(&ann), (200, format!("ann, visit {visit}\n")));
    }
    assert_eq!(me(&bob), (200, "bob, visit 1\n".into()));

    // Who logs in gets a new id, and the old one is worth nothing.
    let (renewed, _) = login("ann", &[("Cookie", &ann)]);
    assert_ne!(ann, renewed);
    assert_eq!(me(&ann).0, 401);
    assert_eq!(me(&renewed), (200, "ann, visit 1\n".into()));

    let logout = sessions.send("POST /logout", &[("Cookie", &renewed)], "");
    assert_eq!(logout.status, 204);
    let (removed, attributes) = cookie(&logout);
    assert_eq!(removed, "session=");
    assert!(attributes.contains(&"Max-Age=0".to_owned()), "{attributes:?}");
    assert_eq!(me(&renewed).0, 401);
    assert_eq!(me("session=forged").0, 401);
    assert_eq!(me(&bob), (200, "bob, visit 2\n".into()));
    sessions.leaves();
}
