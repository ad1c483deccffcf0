//! Tests of statements without values.

use super::{Dialect, redis, sql};
use proptest::prelude::*;

fn postgres(sql: &str) -> String {
    one(sql, Dialect::Postgres)
}

fn mysql(sql: &str) -> String {
    one(sql, Dialect::MySql)
}

fn one(text: &str, dialect: Dialect) -> String {
    let statements = sql::statements(text.as_bytes(), dialect, false);
    assert_eq!(statements.len(), 1, "{text}: {statements:?}");
    statements[0].as_str().to_owned()
}

#[test]
fn literals_become_question_marks() {
    for (text, normalised) in [
        ("SELECT * FROM t WHERE a=1 AND b = 'it''s'", "SELECT * FROM t WHERE a = ? AND b = ?"),
        ("select x from t where a = -1.5e-3 and b > .5", "select x from t where a = ? and b > ?"),
        ("SELECT a-1, b - c FROM t LIMIT -1", "SELECT a - ?, b - c FROM t LIMIT ?"),
        ("SELECT E'a\\'b', X'ff', 0x1F, $1, $tag$it's$tag$ FROM \"T x\"", "SELECT ?, ?, ?, ?, ? FROM \"T x\""),
        ("SELECT 1 /* a /* nested */ 'comment' */ + 2 -- 'end'\n, 3", "SELECT ? + ?, ?"),
        ("SELECT data->>'name', '{}'::jsonb @> $1 FROM t", "SELECT data ->> ?, ?::jsonb @> ? FROM t"),
        (
            "SELECT count(*), f(1, 2) FROM s.t  \n WHERE  x IS NULL;",
            "SELECT count(*), f(?, ?) FROM s.t WHERE x IS NULL",
        ),
        ("UPDATE t SET a = NULL, b=true WHERE id=5", "UPDATE t SET a = ?, b = ? WHERE id = ?"),
    ] {
        assert_eq!(postgres(text), normalised, "{text}");
    }
}

#[test]
fn the_dialect_decides_about_marks() {
    assert_eq!(mysql(r#"SELECT `a b` FROM t WHERE x = "it\"s" # 'c"#), "SELECT `a b` FROM t WHERE x = ?");
    assert_eq!(mysql(r"SELECT 'O\'Reilly' 'x', ? FROM t WHERE a=1--1"), "SELECT ?, ? FROM t WHERE a = ? - ?");
    assert_eq!(mysql("SELECT @@version, @x, _utf8'z' FROM t -- c"), "SELECT @@version, @x, _utf8 ? FROM t");
    assert_eq!(postgres(r"SELECT 'C:\' FROM t"), "SELECT ?");
}

#[test]
fn lists_collapse() {
    for (text, normalised) in [
        ("SELECT * FROM t WHERE id IN (1,2, 3)", "SELECT * FROM t WHERE id IN (?)"),
        ("SELECT * FROM t WHERE id IN(1)", "SELECT * FROM t WHERE id IN (?)"),
        (
            "SELECT * FROM t WHERE id IN ($1, $2) AND x = ANY(ARRAY[1,2])",
            "SELECT * FROM t WHERE id IN (?) AND x = ANY(ARRAY[?])",
        ),
        ("INSERT INTO t (a, b) VALUES (1, NULL), (2, 'x'), (3, 'y')", "INSERT INTO t (a, b) VALUES (?)"),
        ("INSERT INTO t VALUES (1, now()), (2, now()), (3, now())", "INSERT INTO t VALUES (?, now())"),
        ("SELECT 1 WHERE (a, b) IN ((1, 2), (3, 4))", "SELECT ? WHERE (a, b) IN ((?))"),
    ] {
        assert_eq!(postgres(text), normalised, "{text}");
    }
}

#[test]
fn several_statements_are_separated() {
    let texts = |text: &str| -> Vec<String> {
        let statements = sql::statements(text.as_bytes(), Dialect::Postgres, false);
        statements.iter().map(|text| text.as_str().to_owned()).collect()
    };
    assert_eq!(texts("BEGIN; SELECT ';' ;;UPDATE t SET a=1;"), ["BEGIN", "SELECT ?", "UPDATE t SET a = ?"]);
    assert_eq!(texts(" ; -- nothing"), Vec::<String>::new());
    assert_eq!(texts(&"SELECT 1;".repeat(40)), Vec::<String>::new());
}

#[test]
fn texts_are_bounded() {
    let long = format!("SELECT {} FROM t", (0..1000).map(|n| format!("column{n}")).collect::<Vec<_>>().join(", "));
    let text = postgres(&long);
    assert!(text.len() <= sql::LENGTH + 4 && text.ends_with(" ..."), "{text}");
    let list =
        format!("SELECT * FROM t WHERE id IN ({})", (0..50_000).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    assert_eq!(postgres(&list), "SELECT * FROM t WHERE id IN (? ...");
}

#[test]
fn what_cannot_be_read_shows_its_verb_alone() {
    assert_eq!(postgres("SELECT 'secret"), "SELECT ?");
    assert_eq!(mysql("UPDATE t SET a = \"x\\\" WHERE b = 'secret'"), "UPDATE ?");
    assert_eq!(postgres(r"SELECT 'a\' , secret, 'b'"), "SELECT ?");
    assert!(sql::statements(b"secret 'x", Dialect::Postgres, false).is_empty());
}

#[test]
fn commands_keep_a_prefix_of_the_key() {
    let command = |arguments: &[&str]| {
        let bytes: Vec<&[u8]> = arguments.iter().map(|argument| argument.as_bytes()).collect();
        redis::command(&bytes[..bytes.len().min(redis::ARGUMENTS)], bytes.len() > 2).as_str().to_owned()
    };
    assert_eq!(command(&["get", "user:42"]), "GET user:?");
    assert_eq!(command(&["HSET", "cart:7:x", "a", "b"]), "HSET cart:? ?");
    assert_eq!(command(&["GET", "alice"]), "GET ?");
    assert_eq!(command(&["GET", "4711:x"]), "GET ?");
    assert_eq!(command(&["AUTH", "secret"]), "AUTH ?");
    assert_eq!(command(&["CONFIG", "get", "requirepass"]), "CONFIG GET");
    assert_eq!(command(&["EVAL", "return 1", "0"]), "EVAL ?");
    assert_eq!(command(&["my secret"]), "?");
    assert_eq!(command(&["JSON.GET", "doc:1"]), "JSON.GET doc:?");
}

/// A value that no statement of the tests has elsewhere.
const SECRET: &str = "Zq9x";

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        for dialect in [Dialect::Postgres, Dialect::MySql] {
            for text in sql::statements(&bytes, dialect, false) {
                prop_assert!(text.as_str().chars().count() <= sql::LENGTH + 4);
                prop_assert!(!text.as_str().chars().any(char::is_control));
            }
        }
        redis::command(&[&bytes], true);
    }

    #[test]
    fn any_marks_are_read(text in "[ -'$`\"/*#\\\\a1;,()e\n-]{0,80}") {
        for dialect in [Dialect::Postgres, Dialect::MySql] {
            sql::statements(text.as_bytes(), dialect, true);
        }
    }

    #[test]
    fn no_value_is_shown(before in "[a-z ]{0,12}", after in "[^'\\\\\0]{0,12}", number in 7_000_000u32..) {
        let literal = format!("{before}{SECRET}{after}");
        let text = format!("SELECT a FROM t WHERE b = '{literal}' AND c IN ({number}, '{literal}') AND d = {number}");
        for dialect in [Dialect::Postgres, Dialect::MySql] {
            let normalised = one(&text, dialect);
            prop_assert_eq!(&normalised, "SELECT a FROM t WHERE b = ? AND c IN (?) AND d = ?");
        }
    }

    #[test]
    fn normalising_again_changes_nothing(text in "(SELECT|[a-z]{1,4}|[0-9]{1,3}|'[a-z]'|,|\\(|\\)|=| ){1,30}") {
        for first in sql::statements(text.as_bytes(), Dialect::MySql, false) {
            let second = sql::statements(first.as_str().as_bytes(), Dialect::MySql, false);
            prop_assert_eq!(second.len(), 1);
            prop_assert_eq!(second[0].as_str(), first.as_str());
        }
    }
}
