//! `examples/extractors.rs`.

use crate::program::{ClientResponse, Example};

const JSON: (&str, &str) = ("Content-Type", "application/json");
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

#[test]
fn handlers_get_what_they_ask_for() {
    let extractors = Example::start("extractors", &[]);
    assert_eq!(extractors.get("/half/84").status_and_text(), (200, "42"));
    assert_eq!(
        extractors.get("/search?words=green%20tea").status_and_text(),
        (200, r#"{"words":"green tea","page":0}"#)
    );
    assert_eq!(extractors.get("/search?page=2&words=tea").status_and_text(), (200, r#"{"words":"tea","page":2}"#));
    assert_eq!(extractors.send("POST /product", &[JSON], "[-3, 2000000000]").status_and_text(), (200, "-6000000000"));
    let form = extractors.send("POST /form", &[FORM], "words=tea+pots&page=3");
    assert_eq!(form.status_and_text(), (200, r#"{"words":"tea pots","page":3}"#));
    assert_eq!(extractors.ask("GET /agent", &[("User-Agent", "a test")]).status_and_text(), (200, "a test"));
    assert_eq!(extractors.ask("GET /me", &[("Authorization", "Bearer 7")]).status_and_text(), (200, "you are user 7"));
    let mut client = extractors.client();
    assert_eq!(client.get("/peer").text(), client.address().to_string());
    extractors.leaves();
}

#[test]
fn rejections_are_json() {
    let extractors = Example::start("extractors", &[]);
    let rejected = |response: ClientResponse, status: u16, part: &str| {
        assert_eq!(
            (response.status, response.field("Content-Type")),
            (status, Some("application/json")),
            "{response:?}"
        );
        let shown: serde_json::Value = serde_json::from_slice(&response.body).expect("it is JSON");
        assert_eq!(shown["status"], status);
        assert!(shown["problem"].as_str().is_some_and(|problem| problem.contains(part)), "{shown} without {part}");
    };
    rejected(extractors.get("/half/some"), 400, "some");
    rejected(extractors.get("/search?words=tea&page=two"), 400, "page");
    rejected(extractors.get("/search"), 400, "words");
    rejected(extractors.send("POST /product", &[JSON], "[1, 2"), 400, "EOF");
    rejected(extractors.send("POST /product", &[JSON], "[1, \"2\"]"), 422, "[1]");
    rejected(extractors.send("POST /product", &[], "[1, 2]"), 415, "application/json");
    rejected(extractors.send("POST /form", &[FORM], "page=1"), 422, "words");
    rejected(extractors.get("/me"), 401, "token");
    rejected(extractors.ask("GET /me", &[("Authorization", "Bearer seven")]), 401, "token");
    extractors.leaves();
}
