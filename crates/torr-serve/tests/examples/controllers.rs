//! `examples/controllers.rs`.

use crate::program::Example;

#[test]
fn controllers_read_paths_queries_and_json() {
    let controllers = Example::start("controllers", &[]);
    let greeting = controllers.get("/hello/Ann%20Lee?loud");
    assert_eq!(greeting.status_and_text(), (200, r#"{"hello":"Ann%20Lee","loud":true}"#));
    assert_eq!(greeting.field("Content-Type"), Some("application/json"));
    let bill = controllers.send("POST /orders", &[], r#"{"pots": 4294967295, "tea": "oo\"long"}"#);
    assert_eq!(bill.status_and_text(), (200, r#"{"tea":"oo\"long","cents":1503238553250}"#));
    for wrong in ["", "{}", r#"{"tea": "oolong", "pots": -1}"#] {
        assert_eq!(controllers.send("POST /orders", &[], wrong).status, 400, "{wrong}");
    }
    let refused = controllers.get("/orders");
    assert_eq!((refused.status, refused.field("Allow")), (405, Some("POST")));
    assert_eq!(controllers.get("/hello").status, 404);
    controllers.leaves();
}
