//! What is written is read back as it was.

use crate::hurl::ast::{File, Piece, Template};
use crate::hurl::{parse, write};
use proptest::prelude::*;
use regex::Regex;

/// A file's parts without their places, which writing moves.
fn without_places(file: &File) -> String {
    let place = Regex::new(r"Position \{ line: \d+, column: \d+ \}").expect("it is a pattern");
    place.replace_all(&format!("{file:?}"), "here").into_owned()
}

fn again(file: &File) -> File {
    let text = write(file);
    parse(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

#[test]
fn the_whole_format_is_written() {
    let file = parse(include_str!("whole.hurl")).expect("it has no mistake");
    assert_eq!(without_places(&again(&file)), without_places(&file));
}

#[test]
fn a_written_file_reads_well() {
    let source = "# name: log in\nPOST https://{{host}}/login\nAccept: */*\n[Options]\ndelay: 2s\n[Form]\nuser: ann\n\
                  HTTP 200\n[Captures]\ntoken: jsonpath \"$.token\" redact\n[Asserts]\nstatus < 300\n\n\
                  POST https://{{host}}/cart\n{\"id\": {{id}}}\nHTTP *\n";
    assert_eq!(write(&parse(source).expect("it has no mistake")), source);
}

#[test]
fn a_url_that_begins_with_a_colon_stays_one() {
    let file = parse("GET http://a/\n\nGET \\:b:c\n").expect("it has no mistake");
    assert_eq!(file.entries.len(), 2);
    assert_eq!(without_places(&again(&file)), without_places(&file));
}

proptest! {
    /// Any text comes back from each kind of string.
    #[test]
    fn any_text_is_written(text in "[ -~\n\r\t{}`é]{0,12}", end in "[{} a]{0,2}") {
        let mut file = parse("POST http://a/\nA: {{b}}\n[Query]\nx: y\n[Multipart]\nf: file,n;\n```x{{b}}```\nHTTP 200\n\
                              [Asserts]\nbody == \"x{{b}}\"").expect("it has no mistake");
        let request = &mut file.entries[0].request;
        let strings = [&mut request.headers[0].value, &mut request.query[0].value];
        strings.into_iter().for_each(|value| surround(value, &text, &end));
        if !text.is_empty() {
            request.query[0].name = text.as_str().into();
        }
        if let Some(crate::hurl::ast::Body::Text { text: body, .. }) = &mut request.body {
            surround(body, &text, &end);
        }
        let asserts = &mut file.entries[0].response.as_mut().expect("it has one").asserts;
        if let crate::hurl::ast::Predicate::Equal(crate::hurl::ast::Value::Text(value)) = &mut asserts[0].predicate {
            surround(value, &text, &end);
        }
        prop_assert_eq!(without_places(&again(&file)), without_places(&file));
    }
}

/// Puts text before and after a template's placeholder.
fn surround(template: &mut Template, text: &str, end: &str) {
    let placeholder = template.0.iter().find(|piece| matches!(piece, Piece::Placeholder(_))).cloned();
    let piece = |text: &str| (!text.is_empty()).then(|| Piece::Text(text.to_owned()));
    // Neighbouring texts would be one when they are read.
    template.0 = match placeholder {
        Some(placeholder) => piece(text).into_iter().chain([placeholder]).chain(piece(end)).collect(),
        None => piece(&format!("{text}{end}")).into_iter().collect(),
    };
}
