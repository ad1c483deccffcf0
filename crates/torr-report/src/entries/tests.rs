use super::*;
use torr_gauge::Latency;

fn entry(name: &str, line: usize) -> EntryResult {
    let mut latency = Latency::default();
    (0..1000).for_each(|_| latency.record(1_234_000));
    EntryResult {
        name: name.into(),
        file: "tests/shop.hurl".into(),
        line,
        origins: vec![],
        requests: 1000,
        rps: 100.0,
        status: BTreeMap::from([(200, 1000)]),
        grpc: BTreeMap::new(),
        failed: 0,
        request_failures: 0,
        unfinished: 0,
        retries: 0,
        sessions_failed: 0,
        causes: vec![],
        latency_us: latency.summary(),
        streams: None,
        asserts_failed: 0,
        asserts: vec![],
    }
}

fn failing(name: &str, examples: &[(&str, &str)]) -> EntryResult {
    let example =
        |&(expected, actual): &(&str, &str)| AssertExample { expected: expected.into(), actual: actual.into() };
    EntryResult {
        failed: 1012,
        request_failures: 12,
        retries: 1,
        sessions_failed: 1010,
        causes: vec![EntryCause { what: "timeout".into(), count: 12 }],
        status: BTreeMap::from([(200, 3), (500, 997)]),
        asserts_failed: 1000,
        asserts: vec![
            AssertResult {
                assert: "status == 200".into(),
                failed: 997,
                examples: examples.iter().map(example).collect(),
            },
            AssertResult { assert: "body contains \"ok\"".into(), failed: 0, examples: vec![] },
        ],
        ..entry(name, 3)
    }
}

fn plain(entries: &[EntryResult], width: usize) -> String {
    anstream::adapter::strip_str(&section(entries, width)).to_string()
}

#[test]
fn an_entry_has_its_row_and_what_failed_below() {
    let entries = [entry("login", 1), failing("GET /cart", &[("status 200", "status 500")]), entry("POST /pay", 9)];
    let expected = "\
entry      requests  failed      p50      p99      max
login         1,000       0  1.23 ms  1.23 ms  1.23 ms
GET /cart     1,012   1,012  1.23 ms  1.23 ms  1.23 ms
  997 of 1,000 responses failed: status == 200
    expected status 200, was status 500
  status 200 x 3, 500 x 997
  12 requests without a response
  1,010 sessions ended here: 12 x timeout
  1 retry
POST /pay     1,000       0  1.23 ms  1.23 ms  1.23 ms
";
    assert_eq!(plain(&entries, usize::MAX), expected);
    assert_eq!(plain(&entries, 78), expected);
}

#[test]
fn a_table_fits_its_width() {
    let long = "GET /api/v1/organisations/{{organisation}}/projects/{{project}}/members?page={{page}}";
    let entries = [entry(long, 1), entry(long, 30), failing("b", &[("\u{1b}[2J", &"x".repeat(500))]), entry(long, 5)];
    for width in [78, 64] {
        let text = plain(&entries, width);
        let table: Vec<_> = text.lines().filter(|line| line.starts_with("GET ")).collect();
        assert!(table.iter().all(|line| line.chars().count() <= width), "{text}");
        assert_eq!(table.len(), 3, "{text}");
        for (line, position) in table.iter().zip([":1) ", ":30) ", ":5) "]) {
            assert!(line.contains(position), "entries of one name are told apart: {text}");
        }
        assert!(text.contains("  expected \\u{1b}[2J\n") && text.contains("    was      xxx"), "{text}");
    }
    let alone = plain(&[entry(long, 1)], 78);
    assert!(alone.contains("\nGET /api/v1/org...s?page={{page}}  "), "a path is told by its end: {alone}");
    let narrow = plain(&entries, 40);
    assert!(narrow.lines().filter(|line| line.starts_with("GET ")).count() > 3, "columns follow below: {narrow}");
    assert!(plain(&entries, usize::MAX).contains(&format!("{long} (tests/shop.hurl:30) ")));
}

#[test]
fn of_many_entries_those_that_failed_are_shown() {
    let mut entries: Vec<_> = (0..200).map(|n| entry(&format!("GET /{n}"), n)).collect();
    entries[150] = failing("GET /failing", &[]);
    let text = plain(&entries, 78);
    assert_eq!(text.lines().filter(|line| line.starts_with("GET ")).count(), 51, "{text}");
    assert!(
        text.contains("GET /failing ") && text.ends_with("and 149 more entries without failures (--json has all)\n")
    );
}

#[test]
fn asserts_and_sessions_fail_an_entry_and_failed_requests_do_not() {
    assert_eq!(failure(&entry("a", 1)), None);
    let assert = Some("status == 200 failed in 997 of 1,000 responses".to_owned());
    assert_eq!(failure(&failing("a", &[])), assert);
    let timeouts = EntryResult { failed: 2, request_failures: 2, sessions_failed: 2, ..entry("a", 1) };
    assert_eq!(failure(&timeouts), None);
    let causes = vec![EntryCause { what: "variable 'x' has no value".into(), count: 1 }];
    let unset = EntryResult { sessions_failed: 1, causes, ..entry("a", 1) };
    assert_eq!(failure(&unset).as_deref(), Some("1 session ended here: variable 'x' has no value"));
}
