//! `examples/templates.rs`.

use crate::program::Example;

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

#[test]
fn pages_show_what_was_written_and_run_none_of_it() {
    let templates = Example::start("templates", &[]);
    let empty = templates.get("/");
    assert_eq!((empty.status, empty.field("Content-Type")), (200, Some("text/html; charset=utf-8")));
    assert!(empty.text().starts_with("<!doctype html>\n<title>0 entries</title>\n"), "{empty:?}");
    assert!(empty.text().contains("<p>Nobody has been here.</p>"), "{empty:?}");

    let written = templates.send("POST /", &[FORM], "name=Eve&words=%3Cscript%3Ealert('1')%3C/script%3E");
    assert_eq!((written.status, written.field("Location")), (303, Some("/")));
    templates.send("POST /", &[FORM], "name=Bj%C3%B6rn&words=%7B%7B+entries+%7D%7D");

    let page = templates.get("/");
    let escaped = "<p><b>Eve</b>: &lt;script&gt;alert(&#x27;1&#x27;)&lt;&#x2f;script&gt;</p>";
    for part in ["<title>2 entries</title>", escaped, "<p><b>Björn</b>: {{ entries }}</p>"] {
        assert!(page.text().contains(part), "{part} in {page:?}");
    }
    assert!(!page.text().contains("<script>"), "{page:?}");
    templates.leaves();
}
