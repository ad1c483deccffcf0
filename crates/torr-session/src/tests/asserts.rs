//! Queries, filters and predicates on one response, by the lines of a hurl file.

use crate::EvaluationError;
use crate::files::Files;
use crate::hurl::ast;
use crate::hurl::parse;
use crate::predicate::Assert;
use crate::query::{Query, Received};
use crate::scope::{Names, Variables};
use crate::template::{Filter, Template};
use crate::value::Value;
use std::time::Duration;

const CONTENT: &str = r#"{"name": "Ann", "id": 7, "big": 18446744073709551615, "pi": 3.5, "ok": true, "none": null,
"tags": ["a", "b"], "empty": [], "one": ["x"], "a-b": {"c": 1}, "when": "2026-11-22T10:00:00Z", "ip": "::1",
"uuid": "01cc0f54-8885-4a1d-9121-ae5d316a33c5", "html": "a &lt; b", "url": "/p?q=1+2&r=%C3%A9",
"full": "http://a/p?q=1+2&r=%C3%A9#s=1", "b64": "w6k="}"#;

/// One file.
struct Known;

impl Files for Known {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        if name == "whole.json" { Ok(CONTENT.into()) } else { Err(format!("there is no {name}")) }
    }
}

fn received() -> Received<'static> {
    Received {
        status: 200,
        version: "1.1",
        fields: vec![
            ("Content-Type", b"application/json; charset=utf-8"),
            ("Set-Cookie", b"id=abc; Path=/; Max-Age=60; Secure; SameSite=Lax; Expires=Wed, 13 Jan 2021 22:23:01 GMT"),
            ("set-cookie", b"theme=dark; Expires=Wed, 02-Jan-2030 10:00:00 GMT"),
            ("set-cookie", b"theme=light"),
            ("ETag", b"\"x\""),
        ],
        content: CONTENT.as_bytes().into(),
        url: "http://a/b",
        redirects: vec![(302, "http://a/c")],
        address: Some([127, 0, 0, 1].into()),
        duration: Duration::from_micros(12_700),
        ..Received::default()
    }
}

fn variables(names: &mut Names) -> Variables {
    let mut variables = Variables::default();
    variables.set(names.number("name"), Value::Text("Ann".to_owned()));
    variables.set(names.number("seven"), Value::Integer(7));
    variables.set(names.number("one"), Value::Integer(1));
    variables.set(names.number("latin"), Value::Text("latin1".to_owned()));
    variables.set(names.number("digits"), Value::Text("12".to_owned()));
    variables.set(names.number("path"), Value::Text("$.id".to_owned()));
    variables.set(names.number("list"), Value::List(vec![Value::Null, Value::Text("\"q\"".to_owned())]));
    variables
}

fn asserts(lines: &str) -> Vec<ast::Assert> {
    let file = parse(&format!("GET http://a/\nHTTP 200\n[Asserts]\n{lines}"))
        .unwrap_or_else(|error| panic!("{lines}: {error}"));
    file.entries.into_iter().next().and_then(|entry| entry.response).expect("it has one").asserts
}

/// Checks one assert; the error is what was expected and what was there.
fn check(line: &str) -> Result<(), (String, String)> {
    let mut names = Names::default();
    let variables = variables(&mut names);
    let assert =
        Assert::compile(&asserts(line)[0], &mut names, &Known).unwrap_or_else(|error| panic!("{line}: {error}"));
    assert.check(&received(), &variables).map_err(|failed| (failed.expected, failed.actual))
}

/// Asserts that hold.
const HOLD: &str = r#"status == 200
status != 201
status >= 200
status < 200.5
status isInteger
status isNumber
status not isFloat
version == "1.1"
url endsWith "/b"
url matches /^http:/
url not matches "^https:"
ip isIpv4
redirects count == 1
redirects nth 0 location == "http://a/c"
redirects nth -1 location == "http://a/c"
redirects nth 0 not isObject
redirects nth 0 exists
duration == 12
header "content-type" contains "json"
header "Content-Type" startsWith "application/"
header "Set-Cookie" count == 3
header "Set-Cookie" contains "theme=light"
header "ETag" == "\"x\""
header "X-None" not exists
header "X-None" not == "x"
cookie "id" == "abc"
cookie "id[Value]" == "abc"
cookie "id[Path]" == "/"
cookie "id[Max-Age]" == 60
cookie "id[Max-Age]" isInteger
cookie "id[Secure]" exists
cookie "id[HttpOnly]" not exists
cookie "id[SameSite]" == "Lax"
cookie "id[Expires]" isDate
cookie "id[Expires]" daysBeforeNow > 1000
cookie "id[Expires]" dateFormat "%Y" == "2021"
cookie "theme[Expires]" dateFormat "%F" == "2030-01-02"
cookie "theme" == "dark"
cookie "none" not exists
body contains "Ann"
body isString
bytes startsWith hex,7b22;
bytes not endsWith base64,AAAA;
bytes count > 100
rawbytes contains hex,416e6e;
jsonpath "$.name" == "Ann"
jsonpath "$.name" == "{{name}}"
jsonpath "$.name" == {{name}}
jsonpath "$.id" == {{seven}}
jsonpath "{{path}}" == 7
jsonpath "$.id" toFloat == 7.0
jsonpath "$.big" == 18446744073709551615
jsonpath "$.big" > 9223372036854775807
jsonpath "$.pi" == 3.5
jsonpath "$.pi" toInt == 3
jsonpath "$.pi" isFloat
jsonpath "$.ok" == true
jsonpath "$.ok" isBoolean
jsonpath "$.none" == null
jsonpath "$.none" exists
jsonpath "$.missing" not exists
jsonpath "$.tags" count == 2
jsonpath "$.tags" includes "a"
jsonpath "$.tags" not includes "c"
jsonpath "$.tags" first == "a"
jsonpath "$.tags" last == "b"
jsonpath "$.tags" isList
jsonpath "$.tags" isCollection
jsonpath "$.tags[*]" count == 2
jsonpath "$.tags[?match(@, '[ab]')]" count == 2
jsonpath "$.tags[?search(@, '^a')]" == "a"
jsonpath "$.tags[?length(@) == 1]" count == 2
jsonpath "$.one[*]" == "x"
jsonpath "$.empty" isEmpty
jsonpath "$.a-b.c" == 1
jsonpath "$.['a-b'].c" == 1
jsonpath "$.tags.[1]" == "b"
jsonpath "$.tags" nth {{one}} == "b"
jsonpath "$['a-b']" isObject
jsonpath "$..c" == 1
body jsonpath "$.a-b.c" == 1
jsonpath "$.when" isIsoDate
jsonpath "$.when" toDate "%+" isDate
jsonpath "$.when" toDate "%+" dateFormat "%A" == "Sunday"
jsonpath "$.ip" isIpv6
jsonpath "$.uuid" isUuid
jsonpath "$.html" htmlUnescape == "a < b"
jsonpath "$.html" htmlUnescape htmlEscape == "a &lt; b"
jsonpath "$.url" htmlEscape == "/p?q=1+2&amp;r=%C3%A9"
jsonpath "$.full" urlQueryParam "q" == "1 2"
jsonpath "$.full" urlQueryParam "r" == "é"
jsonpath "$.full" urlQueryParam "s" not exists
jsonpath "$.url" urlEncode startsWith "/p%3Fq"
jsonpath "$.url" urlDecode contains "é"
jsonpath "$.b64" base64Decode utf8Decode == "é"
jsonpath "$.b64" base64Decode toHex == "c3a9"
jsonpath "$.b64" base64Decode decode "iso-8859-1" == "Ã©"
jsonpath "$.b64" base64Decode charsetDecode "{{latin}}" == "Ã©"
bytes utf8Decode contains "Ann"
bytes == file,whole.json;
bytes startsWith base64,eyJu;
body matches `Ann`
jsonpath "$.name" utf8Encode base64Encode == "QW5u"
jsonpath "$.name" split "n" count == 3
jsonpath "$.name" replace "n" "m" == "Amm"
jsonpath "$.name" replaceRegex /n+/ "x" == "Ax"
jsonpath "$.name" regex "A(.)" == "n"
jsonpath "$.name" regex "B(.)" not exists
jsonpath "$.name" toString == "Ann"
jsonpath "$.id" toString == "7"
regex "\"id\": (\\d+)" toInt == 7
regex /"id": (\d+)/ == "7"
variable "name" == "Ann"
variable "unset" not exists
sha256 not == hex,00;
md5 count == 16
certificate "Subject" not exists"#;

/// Asserts that do not hold, with what is said of them.
const FAIL: &[(&str, &str, &str)] = &[
    ("status == 201", "integer 201", "integer 200"),
    ("status not == 200", "not integer 200", "integer 200"),
    ("status == \"200\"", "string \"200\"", "integer 200"),
    ("status contains \"2\"", "contains string \"2\"", "integer 200"),
    ("status not contains \"2\"", "not contains string \"2\"", "integer 200"),
    ("status isUuid", "isUuid", "integer 200"),
    ("body isEmpty", "isEmpty", "string \"{"),
    ("header \"X-None\" == \"a\"", "string \"a\"", "nothing"),
    ("header \"X-None\" exists", "something", "nothing"),
    ("header \"ETag\" not exists", "nothing", "string \"\"x\"\""),
    ("jsonpath \"$.tags\" > 1", "greater than integer 1", "list of 2"),
    ("jsonpath \"$.name\" matches /^B/", "matches /^B/", "string \"Ann\""),
    ("jsonpath \"$.name\" toInt == 1", "integer 1", "the filter toInt does not support string \"Ann\""),
    ("status count == 1", "integer 1", "the filter count does not support integer 200"),
    ("jsonpath \"$.name\" count == 3", "integer 3", "the filter count does not support string \"Ann\""),
    ("jsonpath \"$.a-b\" count == 1", "integer 1", "the filter count does not support object of 1 members"),
    ("variable \"unset\" == 1", "integer 1", "nothing"),
    ("variable \"unset\" toInt not exists", "nothing", "no value for the filter toInt"),
    ("jsonpath \"$.name\" regex \"B(.)\" toInt not exists", "nothing", "no value for the filter toInt"),
    ("jsonpath \"$.empty\" first not exists", "nothing", "the filter first does not support an empty list"),
    ("jsonpath \"$.empty\" last not exists", "nothing", "the filter last does not support an empty list"),
    ("jsonpath \"$.tags\" nth 2 not exists", "nothing", "index 2 is out of range of a list of 2"),
    ("jsonpath \"$.tags\" nth -3 not exists", "nothing", "index -3 is out of range of a list of 2"),
    ("jsonpath \"$.tags\" nth {{name}} exists", "something", "nth needs an integer, found string \"Ann\""),
    ("jsonpath \"$.a-b\" jsonpath \"$.c\" == 1", "integer 1", "the filter jsonpath does not support object of 1"),
    ("jsonpath \"$.url\" urlQueryParam \"q\" == \"1 2\"", "string \"1 2\"", "invalid URL '/p?q=1+2&r=%C3%A9'"),
    ("jsonpath \"$.id\" urlEncode == \"7\"", "string \"7\"", "the filter urlEncode does not support integer 7"),
    ("bytes charsetDecode \"{{name}}\" exists", "something", "unknown character encoding 'Ann'"),
    ("jsonpath \"$.big\" toFloat > 1", "greater than integer 1", "the filter toFloat does not support integer 18"),
    ("bytes not == file,whole.json;", "not bytes 7b22", "bytes 7b22"),
    ("status == {{unset}}", "a value", "the variable 'unset' at 4:13 has no value"),
    ("jsonpath \"{{name}}\" == 1", "integer 1", "invalid JSONPath expression 'Ann'"),
];

#[test]
fn asserts_hold() {
    for line in HOLD.lines() {
        assert_eq!(check(line), Ok(()), "{line}");
    }
}

#[test]
fn asserts_that_do_not_hold_say_why() {
    for (line, expected, actual) in FAIL {
        let (said, was) = check(line).expect_err(line);
        assert!(said.starts_with(expected) && was.starts_with(actual), "{line}: expected {said}, actual {was}");
    }
}

#[test]
fn mistakes_in_expressions_are_found_before_the_run() {
    let refused = [
        ("body matches /(/", "invalid regular expression '(': unclosed group"),
        ("regex \"[\" == \"a\"", "invalid regular expression '['"),
        ("jsonpath \"$[\" == 1", "invalid JSONPath expression '$['"),
        ("xpath \"//a[\" exists", "invalid XPath expression '//a[': unexpected end (character 5)"),
        (
            "body xpath \"strong(//a)\" exists",
            "invalid XPath expression 'strong(//a)': unknown function 'strong' (character 1)",
        ),
        ("bytes decode \"utf-99\" == \"a\"", "unknown character encoding 'utf-99'"),
        ("bytes == file,none;", "there is no none"),
        ("bytes == file,{{name}};", "a file's name must not have placeholders"),
    ];
    for (line, message) in refused {
        let error = Assert::compile(&asserts(line)[0], &mut Names::default(), &Known).expect_err(line).to_string();
        assert!(error.starts_with("4:1: ") && error.contains(message), "{line}: {error}");
    }
}

#[test]
fn content_that_is_not_what_a_query_is_for_is_said() {
    let evaluate = |line: &str, received: &Received<'_>| -> Result<Option<Value>, EvaluationError> {
        let mut names = Names::default();
        let assert = &asserts(line)[0];
        let query = Query::compile(&assert.query, assert.at, &mut names).expect("it has no mistake");
        let filters = Filter::compile_all(&assert.filters, assert.at, &mut names).expect("they have no mistake");
        Filter::apply_all(&filters, query.evaluate(received, &Variables::default())?, &Variables::default())
    };
    let text = Received { content: b"\xe9"[..].into(), ..Received::default() };
    assert_eq!(evaluate("jsonpath \"$\" exists", &text).expect_err("no JSON").0, "the content is not JSON");
    assert_eq!(evaluate("body exists", &text).expect_err("no UTF-8").0, "the content is not UTF-8");
    let latin = Received { fields: vec![("content-type", b"text/plain; Charset=\"ISO-8859-1\"")], ..text };
    assert_eq!(evaluate("body exists", &latin), Ok(Some(Value::Text("é".to_owned()))));
    let unknown = Received { fields: vec![("content-type", b"text/plain; charset=klingon")], ..Received::default() };
    assert_eq!(evaluate("body exists", &unknown).expect_err("unknown").0, "unknown charset 'klingon' in the response");
}

#[test]
fn templates_are_filled_in() {
    let mut names = Names::default();
    let variables = variables(&mut names);
    let body =
        r#"{"a": "{{name}} {{list nth 1}}", "b": {{list}}, "c": {{seven}}, "d": {{digits}}, "e": "{{newUuid}}"}"#;
    let file = parse(&format!("POST http://{{{{name urlEncode}}}}/{{{{seven}}}}\n{body}")).expect("it has no mistake");
    let request = &file.entries[0].request;
    let url = Template::compile(&request.url, &mut names).expect("it has no mistake");
    assert_eq!(url.render(&variables).expect("all are set"), "http://Ann/7");
    let Some(ast::Body::Json(pieces)) = &request.body else { panic!("{request:?}") };
    let body = Template::compile_json(pieces, &mut names)
        .expect("it has no mistake")
        .render(&variables)
        .expect("all are set")
        .into_owned();
    let parsed: serde_json::Value = serde_json::from_str(&body).expect("it is JSON");
    assert_eq!(parsed["a"], "Ann \"q\"");
    assert_eq!(parsed["b"], serde_json::json!([null, "\"q\""]));
    assert_eq!((&parsed["c"], &parsed["d"]), (&7.into(), &12.into()));
    assert_eq!(parsed["e"].as_str().map(str::len), Some(36));
}

#[test]
fn text_outside_a_string_of_json_has_to_be_json() {
    let mut names = Names::default();
    let file = parse("POST http://a/\n{\"a\": {{value}}}").expect("it has no mistake");
    let Some(ast::Body::Json(pieces)) = &file.entries[0].request.body else { panic!("{file:?}") };
    let body = Template::compile_json(pieces, &mut names).expect("it has no mistake");
    let rendered = |text: &str| {
        let mut variables = Variables::default();
        variables.set(names.find("value").expect("it is used"), Value::Text(text.to_owned()));
        body.render(&variables).map(|text| text.into_owned()).map_err(|error| error.0)
    };
    for literal in ["1", "-2.5e3", "true", "null"] {
        assert_eq!(rendered(literal), Ok(format!("{{\"a\": {literal}}}")));
    }
    for other in ["Ann", "", " 1", "[1]", "1 2", "\"x\""] {
        let error = rendered(other).expect_err(other);
        assert!(error.ends_with("is not a JSON value: put the placeholder in double quotes"), "{other}: {error}");
    }
}

#[test]
fn without_coercion_results_of_jsonpath_stay_lists() {
    let mut names = Names::default();
    names.keeps_json_lists = true;
    let variables = variables(&mut names);
    for line in [
        "jsonpath \"$.none-such\" count == 0",
        "jsonpath \"$.name\" first == \"Ann\"",
        "body jsonpath \"$.tags[*]\" count == 2",
    ] {
        let assert = Assert::compile(&asserts(line)[0], &mut names, &Known).expect("it has no mistake");
        assert_eq!(assert.check(&received(), &variables), Ok(()), "{line}");
    }
}

#[test]
fn numbers_beyond_64_bits_are_ordered() {
    let large = |digits: &str| Value::Large(digits.to_owned());
    let ordered =
        ["-99999999999999999999999", "-99999999999999999999", "10000000000000000000", "99999999999999999999999"];
    for pair in ordered.windows(2) {
        assert_eq!(large(pair[0]).compare(&large(pair[1])), Some(std::cmp::Ordering::Less), "{pair:?}");
    }
}

const PAGE: &str = r#"<!doctype html><html><head><title>Example Domain</title><meta name=csrf content=t0ken></head>
<body><ul><li>1<li>2<li>3</ul><table><tr><td class="{{a}}">x</table><p>50 &euro;</body></html>"#;

/// Asserts on the page, and what is expected and was there where they do not hold.
const OF_PAGE: &[(&str, Option<(&str, &str)>)] = &[
    ("xpath \"string(//head/title)\" == \"Example Domain\"", None),
    ("xpath \"string(/html/head/title)\" contains \"Example\"", None),
    ("xpath \"normalize-space(//p)\" == \"50 €\"", None),
    ("xpath \"string(//meta[@name='{{meta}}']/@content)\" == \"t0ken\"", None),
    ("xpath \"//li\" count == 3", None),
    ("xpath \"count(//li)\" == 3", None),
    ("xpath \"count(//li)\" isFloat", None),
    ("xpath \"//li\" exists", None),
    ("xpath \"//li\" isCollection", None),
    ("xpath \"//li\" not isEmpty", None),
    ("xpath \"//h2\" not exists", None),
    ("xpath \"//h2\" count == 0", None),
    ("xpath \"//h2\" isEmpty", None),
    ("xpath \"boolean(count(//h2))\" == false", None),
    ("xpath \"//table/tr/td\" count == 1", None),
    ("body xpath \"string(//li[2])\" toInt == 2", None),
    ("xpath \"//h2\" exists", Some(("something", "nodeset of 0"))),
    ("xpath \"//li\" not exists", Some(("nothing", "nodeset of 3"))),
    ("xpath \"//li\" == 3", Some(("integer 3", "nodeset of 3"))),
    ("xpath \"//li\" == \"1\"", Some(("string \"1\"", "nodeset of 3"))),
    ("xpath \"//li\" nth 0 == \"1\"", Some(("string \"1\"", "the filter nth does not support nodeset of 3"))),
    (
        "xpath \"//li\" toString == \"1\"",
        Some(("string \"1\"", "a nodeset cannot be converted to text: use string(...)")),
    ),
    ("xpath \"//li/x:y\" exists", Some(("something", "undeclared namespace prefix 'x'"))),
    (
        "xpath \"//{{broken}}\" exists",
        Some(("something", "invalid XPath expression '//[': unexpected '[' (character 3)")),
    ),
    ("bytes xpath \"//li\" exists", Some(("something", "the filter xpath does not support bytes 3c21"))),
];

#[test]
fn xpath_looks_at_pages() {
    let page = Received {
        fields: vec![("content-type", b"Text/HTML; charset=utf-8")],
        content: PAGE.as_bytes().into(),
        ..Received::default()
    };
    for (line, fails) in OF_PAGE {
        let mut names = Names::default();
        let mut variables = variables(&mut names);
        variables.set(names.number("meta"), Value::Text("csrf".to_owned()));
        variables.set(names.number("broken"), Value::Text("[".to_owned()));
        let assert =
            Assert::compile(&asserts(line)[0], &mut names, &Known).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert!(assert.needs_content(), "{line}");
        match (assert.check(&page, &variables), fails) {
            (Ok(()), None) => {}
            (Err(failed), Some((expected, actual))) => {
                assert!(failed.expected == *expected && failed.actual.starts_with(actual), "{line}: {failed:?}");
            }
            (result, _) => panic!("{line}: {result:?}"),
        }
    }
}

#[test]
fn what_is_not_said_to_be_html_is_xml() {
    let book = "<bk:book xmlns:bk='urn:loc.gov:books' xmlns='urn:d'><bk:title>Dune</bk:title><n>1</n></bk:book>";
    let result = |content_type: &'static [u8], content: &str, line: &str| {
        let fields = vec![("Content-Type", content_type)];
        let received = Received { fields, content: content.as_bytes().into(), ..Received::default() };
        let assert = Assert::compile(&asserts(line)[0], &mut Names::default(), &Known).expect("it has no mistake");
        assert.check(&received, &Variables::default()).map_err(|failed| failed.actual)
    };
    let title = "xpath \"string(//bk:book/bk:title)\" == \"Dune\"";
    for content_type in
        [&b"application/xml"[..], b"text/xml", b"application/xhtml+xml", b"application/soap+xml", b"", b"x/y"]
    {
        assert_eq!(result(content_type, book, title), Ok(()));
        assert_eq!(result(content_type, book, "xpath \"//_:n\" count == 1"), Ok(()));
    }
    assert!(result(b"text/html", book, title).expect_err("HTML").starts_with("undeclared namespace prefix 'bk'"));
    let no_xml = result(b"application/json", "{}", "xpath \"//a\" exists").expect_err("JSON");
    assert!(no_xml.starts_with("cannot parse XML: "), "{no_xml}");
    let latin = result(b"text/html; charset=iso-8859-1", "<p>\u{fffd}", "xpath \"string-length(//p)\" == 3");
    assert_eq!(latin, Ok(()));
    assert_eq!(
        result(b"text/html", "", "xpath \"//a\" exists"),
        Err("cannot parse HTML: the content is empty".to_owned())
    );
}
