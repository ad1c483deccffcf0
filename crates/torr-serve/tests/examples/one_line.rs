//! `examples/one_line.rs`.

use crate::program::Example;

#[test]
fn an_axum_program_is_served_by_one_line() {
    let one_line = Example::start("one_line", &[]);
    assert_eq!(one_line.get("/").status_and_text(), (200, "Hello, 127.0.0.1!\n"));
    assert_eq!(one_line.get("/later").status_and_text(), (200, "from a task of main's runtime\n"));
    assert_eq!(one_line.get("/nowhere").status, 404);
}
