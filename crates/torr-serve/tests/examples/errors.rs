//! `examples/errors.rs`.

use crate::program::Example;

const JSON: (&str, &str) = ("Content-Type", "application/json");

#[test]
fn failures_become_responses() {
    let errors = Example::start("errors", &[]);
    let order = |body: &str| {
        let response = errors.send("POST /orders", &[JSON], body);
        (response.status, response.text().to_owned())
    };
    assert_eq!(order(r#"{"pots":2}"#), (200, "3 pots are left\n".into()));
    assert_eq!(order(r#"{"pots":9}"#), (409, r#"{"error":"3 pots are left"}"#.into()));
    assert_eq!(order(r#"{"pots":3}"#), (200, "0 pots are left\n".into()));
    for (body, status, part) in [("{", 400, "EOF"), ("{}", 422, "missing field `pots`")] {
        let (answered, text) = order(body);
        assert_eq!(answered, status);
        assert!(text.contains(part), "{text}");
    }
    let report = errors.get("/report");
    assert_eq!(report.status_and_text(), (500, r#"{"error":"it is our fault, try again later"}"#));
    let said = errors.leaves();
    assert!(said.starts_with("the report cannot be read: No such file"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}
