//! Files without a mistake, and what is read from them.

use crate::hurl::ast::*;
use crate::hurl::{Position, parse};

fn variable(name: &str, line: usize, column: usize) -> Expression {
    Expression { source: Source::Variable(name.to_owned()), filters: Vec::new(), at: Position { line, column } }
}

/// Reads a file of one entry.
fn entry(source: &str) -> Entry {
    let file = parse(source).unwrap_or_else(|error| panic!("{source:?}: {error}"));
    assert_eq!(file.entries.len(), 1, "{source:?}: {file:?}");
    file.entries.into_iter().next().expect("there is one")
}

fn asserts(lines: &str) -> Vec<Assert> {
    entry(&format!("GET http://a/\nHTTP 200\n[Asserts]\n{lines}\n")).response.expect("it has one").asserts
}

fn text(text: &str) -> Template {
    text.into()
}

#[test]
fn the_whole_format_is_read() {
    let file = parse(include_str!("whole.hurl")).expect("it has no mistake");
    let methods: Vec<_> = file.entries.iter().map(|entry| entry.request.method.as_str()).collect();
    assert_eq!(methods, ["POST", "PUT", "PATCH", "POST", "POST", "PUT", "PUT", "PUT", "POST", "LINK"]);
    let names: Vec<_> = file.entries.iter().map(|entry| entry.name.as_deref()).collect();
    assert_eq!((names[0], names[1], names[9]), (Some("log in"), None, Some("the last one")));
    let first = &file.entries[0];
    assert_eq!(first.request.options.len(), 12);
    let response = first.response.as_ref().expect("it has one");
    assert_eq!((response.captures.len(), response.asserts.len()), (3, 30));
    assert_eq!(response.version, Some(Version::Http2));
    assert!(matches!(response.body, Some(Body::Text { hint: TextHint::Json, .. })));
    assert_eq!(file.entries[1].response.as_ref().expect("it has one").status, None);
    let bodies: Vec<_> = file.entries[2..].iter().map(|entry| entry.request.body.clone()).collect();
    let Some(Body::Xml(xml)) = &bodies[0] else { panic!("{bodies:?}") };
    assert!(xml.starts_with("<?xml") && xml.ends_with("</a>"), "{xml}");
    assert_eq!(bodies[3], Some(Body::Bytes("café".as_bytes().to_vec())));
    assert_eq!(bodies[4], Some(Body::Bytes(b"Lorem ipsum".to_vec())));
    assert_eq!(bodies[5], Some(Body::File(text("data.bin"))));
    assert_eq!(bodies[6], Some(Body::Text { text: text("Year,Make"), hint: TextHint::Plain }));
    let last = file.entries[9].response.as_ref().expect("it has one");
    assert_eq!(last.body, Some(Body::Json(vec![JsonPiece::Text("true".to_owned())])));
}

#[test]
fn an_empty_file_has_no_entries() {
    for source in ["", "\n\n", "# only a comment", "\u{feff}  \n"] {
        assert_eq!(parse(source).expect("it has no mistake").entries, []);
    }
}

#[test]
fn line_ends_of_both_kinds_and_none_are_read() {
    let source = "POST http://a/\nA: b \n\n[Query]\nc: d\n{\"e\": 1}\nHTTP 200\n[Asserts]\nstatus == 200";
    let plain = entry(source);
    assert_eq!(entry(&source.replace('\n', "\r\n")), plain);
    assert_eq!(entry(&format!("\u{feff}{source}")), plain);
    assert_eq!(plain.request.headers[0].value, text("b"), "trailing spaces are no part of a value");
}

#[test]
fn strings_end_where_their_kind_does() {
    let request =
        entry("GET http://a/#fragment\nA: x  y\\#z # c\nB: \"q\"\n{{n}}-c : {{v replace \"#\" \"-\"}} !").request;
    assert_eq!(request.url, text("http://a/"));
    assert_eq!(request.headers[0].value, text("x  y#z"));
    assert_eq!(request.headers[1].value, text("\"q\""), "quotes are a part of a field's value");
    let name = Template(vec![Piece::Placeholder(variable("n", 4, 3)), Piece::Text("-c".to_owned())]);
    assert_eq!(request.headers[2].name, name);
    let [Piece::Placeholder(value), Piece::Text(rest)] = &request.headers[2].value.0[..] else {
        panic!("{:?}", request.headers[2].value)
    };
    assert_eq!((&value.filters[..], rest.as_str()), (&[Filter::Replace(text("#"), text("-"))][..], " !"));
    assert_eq!(value.at, Position { line: 4, column: 13 });
}

#[test]
fn placeholders_of_json_know_whether_they_are_in_a_string() {
    let body = entry("POST http://a/\n{ \"a{{x}}\": [{{y}}, \"\\\"{{z}}\"] } # c").request.body;
    let text = |text: &str| JsonPiece::Text(text.to_owned());
    let expected = vec![
        text("{ \"a"),
        JsonPiece::InString(variable("x", 2, 7)),
        text("\": ["),
        JsonPiece::Value(variable("y", 2, 16)),
        text(", \"\\\""),
        JsonPiece::InString(variable("z", 2, 26)),
        text("\"] }"),
    ];
    assert_eq!(body, Some(Body::Json(expected)));
    let alone = entry("POST http://a/\nA: b\n{{body}}\nHTTP 200").request;
    assert_eq!(alone.body, Some(Body::Json(vec![JsonPiece::Value(variable("body", 3, 3))])));
    assert_eq!(alone.headers.len(), 1);
}

#[test]
fn fences_keep_their_text_as_it_stands() {
    let body = |source: &str| entry(&format!("POST http://a/\n{source}")).request.body.expect("it has one");
    let plain = |text: Template| Body::Text { text, hint: TextHint::Plain };
    assert_eq!(body("``````"), plain(text("")));
    assert_eq!(body("```\n```"), plain(text("")));
    assert_eq!(body("```\na\\n# {b}\n\n```"), plain(text("a\\n# {b}\n\n")));
    assert_eq!(body("```,escape\na\\tb\n```"), plain(text("a\tb\n")));
    assert_eq!(body("```,novariable\n{{a}}\n```"), plain(text("{{a}}\n")));
}

#[test]
fn predicates_are_read_with_their_values() {
    let integer = |n| Value::Number(Number::Integer(n));
    let read: Vec<_> =
        asserts("status==200\nstatus == 200\nstatus not != -1\nbody > \"a\"\nbody isEmpty\nbody == true")
            .into_iter()
            .map(|assert| (assert.not, assert.predicate))
            .collect();
    let expected = vec![
        (false, Predicate::Equal(integer(200))),
        (false, Predicate::Equal(integer(200))),
        (true, Predicate::NotEqual(integer(-1))),
        (false, Predicate::Greater(Value::Text(text("a")))),
        (false, Predicate::IsEmpty),
        (false, Predicate::Equal(Value::Boolean(true))),
    ];
    assert_eq!(read, expected);
}

#[test]
fn numbers_keep_what_they_are() {
    let numbers = asserts("body == 9223372036854775807\nbody == 9223372036854775808\nbody == 1.0\nbody == 1e2");
    let numbers: Vec<_> = numbers.into_iter().map(|assert| assert.predicate).collect();
    let equal = |number| Predicate::Equal(Value::Number(number));
    assert_eq!(numbers[0], equal(Number::Integer(i64::MAX)));
    assert_eq!(numbers[1], equal(Number::Large("9223372036854775808".to_owned())));
    assert_eq!(numbers[2], equal(Number::Float(1.0)));
    assert_eq!(numbers[3], equal(Number::Float(100.0)));
}

#[test]
fn spellings_of_all_versions_are_read() {
    let filters = asserts(
        "bytes charsetDecode \"a\" exists\nbytes decode \"a\" exists\nbody nth -1 exists\nbody nth {{n}} exists",
    );
    let filters: Vec<_> = filters.into_iter().flat_map(|assert| assert.filters).collect();
    assert_eq!(filters[..2], [Filter::Decode(text("a")), Filter::Decode(text("a"))]);
    assert_eq!(filters[2..], [Filter::Nth(Index::Number(-1)), Filter::Nth(Index::Placeholder(variable("n", 7, 12)))]);
    let body = |source: &str| entry(&format!("POST http://a/\n{source}")).request.body;
    let raw = Body::Text { text: text("{{a}}\n"), hint: TextHint::Plain };
    for source in ["```raw\n{{a}}\n```", "```novariable\n{{a}}\n```", "```,novariable\n{{a}}\n```"] {
        assert_eq!(body(source), Some(raw.clone()), "{source}");
    }
    let graphql = asserts("body == ```graphql\n{ a }\nvariables {}\n```").remove(0).predicate;
    let Predicate::Equal(Value::Content(content)) = graphql else { panic!("{graphql:?}") };
    assert!(matches!(*content, Body::GraphQl { variables: Some(_), .. }), "{content:?}");
    let patterns = asserts("body matches `a`\nbody matches \"a\"").into_iter().map(|assert| assert.predicate);
    assert!(patterns.into_iter().all(|predicate| predicate == Predicate::Matches(Pattern::Template(text("a")))));
}

#[test]
fn options_know_their_units() {
    let options =
        entry("GET http://a/\n[Options]\ndelay: 3\ndelay: 3s\nmax-time: 2\nretry: -1\nskip: {{s}}").request.options;
    let values: Vec<_> = options.into_iter().map(|option| option.value).collect();
    assert_eq!(values[0], OptionValue::Milliseconds(3));
    assert_eq!(values[1], OptionValue::Milliseconds(3000));
    assert_eq!(values[2], OptionValue::Milliseconds(2000));
    assert_eq!(values[3], OptionValue::Count(None));
    assert_eq!(values[4], OptionValue::Placeholder(variable("s", 7, 9)));
}

#[test]
fn a_name_stands_directly_before_its_request() {
    let source = "# name: one\nGET http://a/\n# name: two\n\nGET http://b/\nHTTP 200\n\n# plain\n# name: three\n# more\nGET http://c/";
    let names: Vec<_> = parse(source).expect("it has no mistake").entries.into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["one", "two", "three"].map(|name| Some(name.to_owned())));
}
