//! `examples/extractors.rs`.

use crate::program::{Answer, Example};

const JSON: (&str, &str) = ("Content-Type", "application/json");
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

#[test]
fn handlers_get_what_they_ask_for() {
    let extractors = Example::start("extractors", &[]);
    assert_eq!(extractors.get("/half/84").told(), (200, "42"));
    assert_eq!(extractors.get("/search?words=green%20tea").told(), (200, r#"{"words":"green tea","page":0}"#));
    assert_eq!(extractors.get("/search?page=2&words=tea").told(), (200, r#"{"words":"tea","page":2}"#));
    assert_eq!(extractors.send("POST /product", &[JSON], "[-3, 2000000000]").told(), (200, "-6000000000"));
    let form = extractors.send("POST /form", &[FORM], "words=tea+pots&page=3");
    assert_eq!(form.told(), (200, r#"{"words":"tea pots","page":3}"#));
    assert_eq!(extractors.ask("GET /agent", &[("User-Agent", "a test")]).told(), (200, "a test"));
    assert_eq!(extractors.ask("GET /me", &[("Authorization", "Bearer 7")]).told(), (200, "you are user 7"));
    let mut client = extractors.client();
    assert_eq!(client.get("/peer").text(), client.address().to_string());
    extractors.leaves();
}

#[test]
fn rejections_are_json() {
    let extractors = Example::start("extractors", &[]);
    let rejected = |answer: Answer, status: u16, part: &str| {
        assert_eq!((answer.status, answer.field("Content-Type")), (status, Some("application/json")), "{answer:?}");
        let told: serde_json::Value = serde_json::from_slice(&answer.body).expect("it is JSON");
        assert_eq!(told["status"], status);
        assert!(told["problem"].as_str().is_some_and(|problem| problem.contains(part)), "{told} without {part}");
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
