//! Files with a mistake: each is refused at its place, in words that say what to write.

use crate::hurl::parse;
use proptest::prelude::*;

/// A file, the place of its mistake and a part of the message.
const REFUSED: &[(&str, &str, &str)] = &[
    ("get http://a/", "1:1", "expected a request"),
    ("HTTP 200", "1:1", "expected a request"),
    ("GET http://a/\nHTTP 200\nHTTP 200", "3:1", "expected a request"),
    ("GET # nothing", "1:5", "expected a URL"),
    ("GET http://a/\nAccept", "2:7", "expected ':'"),
    ("GET http://a/\nA: \\q", "2:4", "invalid escape"),
    ("GET http://a/\nA: \\u{110000}", "2:4", "character's number"),
    ("GET http://{{host/", "1:18", "}}"),
    ("GET http://{{ }}/", "1:15", "the name of a variable"),
    ("GET http://a/\n[Asserts]\nstatus == 200", "2:1", "below the HTTP line"),
    ("GET http://a/\nHTTP 200\n[Query]\na: b", "3:1", "above the HTTP line"),
    ("GET http://a/\n[Headers]\na: b", "2:1", "unknown section [Headers]: use [Options]"),
    ("GET http://a/\n[Options]\nretri: 3", "3:1", "did you mean 'retry'?"),
    ("GET http://a/\n[Options]\nretry: many", "3:8", "expected a whole number"),
    ("GET http://a/\n[Options]\ndelay: 3 weeks", "3:10", "expected the end of the line"),
    ("GET http://a/\n[Options]\ndelay: 3weeks", "3:8", "unknown unit of time"),
    ("GET http://a/\n[Options]\ninsecure: yes", "3:11", "true or false"),
    ("GET http://a/\n[Options]\nvariable: a", "3:12", "NAME=VALUE"),
    ("GET http://a/\n[BasicAuth]\na: b\nc: d", "4:1", "one line"),
    ("GET http://a/\nHTTP/4 200", "2:6", "expected a version"),
    ("GET http://a/\nHTTP 20", "2:6", "a status code"),
    ("GET http://a/\nHTTP 200\n[Captures]\na: jsonpat \"$\"", "4:4", "expected a query"),
    ("GET http://a/\nHTTP 200\n[Captures]\na: cookie \"b[Colour]\"", "4:11", "unknown cookie attribute"),
    ("GET http://a/\nHTTP 200\n[Asserts]\nstatus", "4:7", "a filter or a predicate"),
    ("GET http://a/\nHTTP 200\n[Asserts]\nstatus cuont == 3", "4:8", "a filter or a predicate"),
    ("GET http://a/\nHTTP 200\n[Asserts]\nstatus > true", "4:10", "'>' needs a number or a string, found a boolean"),
    ("GET http://a/\nHTTP 200\n[Asserts]\nstatus == two", "4:11", "expected a value"),
    ("GET http://a/\nHTTP 200\n[Asserts]\nbody == \"x", "4:9", "expected \" to close"),
    ("GET http://a/\nHTTP 200\n[Asserts]\nbody matches /x", "4:14", "expected '/' to close"),
    ("GET http://a/\nHTTP 200\n[Asserts]\nbytes == hex,abc;", "4:10", "pairs of hexadecimal digits"),
    ("GET http://a/\nHTTP 200\n[Asserts]\nbytes == base64,@@;", "4:10", "invalid base64"),
    ("POST http://a/\n{\"a\": }", "2:7", "a JSON value"),
    ("POST http://a/\n{\"a\": 1", "2:1", "expected '}' to close"),
    ("POST http://a/\n[1 2]", "2:4", "expected ',' or ']'"),
    ("POST http://a/\n{a: 1}", "2:2", "in double quotes"),
    ("POST http://a/\n{\"a\": \"\\x\"}", "2:8", "invalid escape"),
    ("POST http://a/\n<a><b></a>", "2:7", "does not match an open element"),
    ("POST http://a/\n<a>", "2:1", "is not closed"),
    ("POST http://a/\n```json\n{}", "2:1", "expected ``` to close"),
    ("POST http://a/\n```yaml\na: b\n```", "2:4", "unknown kind of text"),
    ("POST http://a/\n```json,fast\n{}\n```", "2:4", "unknown attribute"),
    ("POST http://a/\n```\n{{a\n```", "3:4", "}}"),
    ("POST http://a/\nfile,a.bin", "2:11", "expected ';'"),
    ("GET http://a/\n[Query]\na: b\n[Form]\n[Query]\nc: d", "5:1", "duplicate section [Query]"),
    ("GET http://a/\nHTTP 200\n[Asserts]\n[Asserts]", "4:1", "duplicate section [Asserts]"),
    ("GET http://a/\nHTTP 200\n[Asserts]\nbody nth two == 1", "4:10", "expected an integer"),
    ("GET http://a/\n[Options]\nno-jsonpath-coercion: 1", "3:23", "true or false"),
    ("POST http://a/\n{} {}", "2:4", "expected the end of the line"),
];

#[test]
fn a_mistake_is_refused_at_its_place() {
    for (source, place, message) in REFUSED {
        let error = parse(source).expect_err(source).to_string();
        assert!(error.starts_with(&format!("{place}: ")) && error.contains(message), "{source:?}: {error}");
    }
}

#[test]
fn content_that_nests_too_deep_is_refused() {
    let deep = |levels: usize| format!("POST http://a/\n{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(parse(&deep(100)).is_ok());
    assert!(parse(&deep(100_000)).expect_err("it is too deep").message.contains("deeper"));
}

#[test]
fn a_mistake_at_the_end_of_a_long_file_is_refused_at_its_place() {
    // A place that is counted from the beginning each time takes minutes here.
    let entries = 50_000;
    let error = parse(&format!("{}nonsense", "GET http://a/{{é}}\nHTTP 200\n".repeat(entries)))
        .expect_err("it ends in nonsense");
    assert_eq!((error.at.line, error.at.column), (2 * entries + 1, "nonsense".len() + 1));
}

proptest! {
    /// Files that are cut, doubled or mixed are read or refused at a place within them.
    #[test]
    fn no_text_panics(
        pieces in prop::collection::vec((0..REFUSED.len() + 1, any::<prop::sample::Index>(), "[ -~\n]{0,4}"), 1..6),
    ) {
        let mut source = String::new();
        for (which, cut, noise) in pieces {
            let text = REFUSED.get(which).map_or(include_str!("whole.hurl"), |(text, ..)| text);
            let cut = cut.index(text.len() + 1);
            source.push_str(&text[..(0..=cut).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)]);
            source.push_str(&noise);
        }
        if let Err(error) = parse(&source) {
            prop_assert!(error.at.line <= source.split('\n').count(), "{error}");
        }
    }
}
