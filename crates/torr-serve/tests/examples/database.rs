//! `examples/database.rs`.

use crate::program::Example;
use std::thread;

const JSON: &[(&str, &str)] = &[("Content-Type", "application/json")];

#[test]
fn what_is_added_stays() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let file = folder.path().join("notes.db");
    let start = || Example::start("database", &[file.to_str().expect("it is UTF-8")]);
    let database = start();
    assert_eq!(database.get("/count").text(), "0 notes\n");
    let text = "Robert'); DROP TABLE notes; --";
    let added = database.send("POST /notes", JSON, format!(r#"{{"text":"{text}"}}"#));
    let note = format!(r#"{{"id":1,"text":"{text}"}}"#);
    assert_eq!(added.status_and_text(), (201, &*note));
    assert_eq!(database.get("/notes/1").status_and_text(), (200, &*note));
    assert_eq!(database.get("/notes/2").status, 404);
    assert_eq!(database.get("/notes/first").status, 400);
    assert_eq!(database.send("POST /notes", JSON, "{}").status, 422);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(database.send("POST /notes", JSON, r#"{"text":"more"}"#).status, 201));
        }
    });
    assert_eq!(database.get("/count").text(), "9 notes\n");
    database.leaves();
    let database = start();
    assert_eq!(database.get("/notes/1").status_and_text(), (200, &*note));
    database.leaves();
}

#[test]
fn failures_are_not_shown_to_the_client() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let file = folder.path().join("notes.db");
    let database = Example::start("database", &[file.to_str().expect("it is UTF-8")]);
    let other = rusqlite::Connection::open(&file).expect("it is a database");
    other.execute("DROP TABLE notes", []).expect("it has this table");
    assert_eq!(database.get("/notes/1").status_and_text(), (500, "it is our fault, try again later\n"));
    assert_eq!(database.get("/count").status_and_text(), (500, "it is our fault, try again later\n"));
    database.leaves();
}
