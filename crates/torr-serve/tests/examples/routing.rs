//! `examples/routing.rs`.

use crate::program::Example;

#[test]
fn routes_lead_where_they_should() {
    let routing = Example::start("routing", &[]);
    for (id, text) in [(1, "buy milk"), (2, "drink it")] {
        let added = routing.send("POST /api/notes", &[], text);
        assert_eq!(added.status, 201);
        let location = added.field("Location").expect("it says where the note is");
        assert_eq!(location, format!("/api/notes/{id}"));
        assert_eq!(routing.get(location).status_and_text(), (200, text));
    }
    assert_eq!(routing.get("/api/notes").status_and_text(), (200, "1: buy milk\n2: drink it\n"));
    assert_eq!(routing.ask("DELETE /api/notes/1", &[]).status, 204);
    assert_eq!(routing.ask("DELETE /api/notes/1", &[]).status, 404);
    assert_eq!(routing.get("/api/notes/1").status, 404);
    assert_eq!(routing.get("/api/notes").text(), "2: drink it\n");
    assert_eq!(routing.get("/api/notes/first").status, 400);
    assert_eq!(routing.get("/greet/Ann/O%27Neill").text(), "Hello, Ann O'Neill!\n");
    assert_eq!(routing.get("/tail/a/b.c/d").text(), "a/b.c/d");
    let head = routing.ask("HEAD /api/notes/2", &[]);
    assert_eq!((head.status, head.field("Content-Length"), head.text()), (200, Some("8"), ""));
    routing.leaves();
}

#[test]
fn what_has_no_route_has_a_fallback() {
    let routing = Example::start("routing", &[]);
    assert_eq!(routing.get("/api/nowhere").status_and_text(), (404, "the API has no such path\n"));
    assert_eq!(routing.get("/nowhere").status_and_text(), (404, "nothing is at /nowhere\n"));
    let put = routing.send("PUT /api/notes/2", &[], "changed");
    assert_eq!(put.status_and_text(), (405, "not by this method\n"));
    let allowed = put.field("Allow").expect("it says what is allowed");
    let mut allowed: Vec<_> = allowed.split(',').collect();
    allowed.sort_unstable();
    assert_eq!(allowed, ["DELETE", "GET", "HEAD"]);
    routing.leaves();
}
