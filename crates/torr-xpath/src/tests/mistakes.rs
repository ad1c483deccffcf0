//! Mistakes in expressions are found where they stand.

use crate::Expression;

#[test]
fn mistakes_have_their_place() {
    let mistakes = [
        ("", "unexpected end (character 1)"),
        ("//", "unexpected end (character 3)"),
        ("^^^", "unexpected '^' (character 1)"),
        ("strong(//head/title)", "unknown function 'strong' (character 1)"),
        ("str:len('a')", "unknown function 'str:len' (character 1)"),
        ("//a[", "unexpected end (character 5)"),
        ("//a[1", "expected ']' (character 6)"),
        ("//a]", "unexpected ']' (character 4)"),
        ("count(//a", "expected ')' (character 10)"),
        ("count('a')", "count() needs a node-set (character 1)"),
        ("count()", "count() needs one argument, found 0 (character 1)"),
        ("concat('a')", "concat() needs at least 2 arguments, found 1 (character 1)"),
        ("substring('a')", "substring() needs 2 or 3 arguments, found 1 (character 1)"),
        ("true(1)", "true() needs no argument, found 1 (character 1)"),
        ("'a", "expected a quote to close the string (character 1)"),
        ("//ä = \"ö", "expected a quote to close the string (character 7)"),
        ("//a[@b = $c]", "XPath variables are not supported: use {{name}} instead (character 10)"),
        ("parents::a", "unknown axis 'parents' (character 1)"),
        ("child::a::b", "unexpected 'a' (character 8)"),
        ("//a b", "expected an operator, found 'b' (character 5)"),
        ("1 | //a", "'|' needs node-sets (character 1)"),
        ("'a'/b", "a path must start from a node-set (character 1)"),
        ("'a'[1]", "a predicate needs a node-set (character 1)"),
        ("//a/string()", "a step must not be the function 'string' (character 5)"),
        ("//a/1", "unexpected number 1 (character 5)"),
        ("//a 'b'", "unexpected string 'b' (character 5)"),
        ("p:", "expected a name after 'p:' (character 1)"),
        ("//a = ", "unexpected end (character 7)"),
        ("..[1]", "unexpected '[' (character 3)"),
        ("text(", "expected ')' (character 6)"),
    ];
    for (text, what) in mistakes {
        let error = Expression::compile(text).expect_err(text);
        assert_eq!(error, format!("invalid XPath expression '{text}': {what}"));
    }
}

#[test]
fn size_has_bounds() {
    let nested = |open: &str, close: &str, count: usize| open.repeat(count) + "1" + &close.repeat(count);
    assert!(Expression::compile(&nested("(", ")", 60)).is_ok());
    for text in [nested("(", ")", 10_000), nested("a[", "]", 10_000), nested("not(", ")", 10_000)] {
        let error = Expression::compile(&text).expect_err("deep");
        assert!(error.contains("brackets must not be nested deeper than 64 (character "), "{error}");
    }
    let chained = vec!["1"; 1_000].join(" + ");
    assert!(Expression::compile(&chained).expect_err("long").contains("more than 64 operators in a row"));
    for joint in [" or ", " | ", " and ", "/", "//"] {
        assert!(Expression::compile(&vec!["a"; 10_000].join(joint)).is_ok(), "{joint}");
    }
    assert!(Expression::compile(&("-".repeat(10_000) + "1")).is_ok());
    assert!(Expression::compile(&"a".repeat(100_000)).expect_err("long").contains("at most 65536 bytes"));
}
