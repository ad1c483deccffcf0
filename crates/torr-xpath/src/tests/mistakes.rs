//! Mistakes in expressions are found where they stand.

use crate::Expression;

#[test]
fn mistakes_have_their_place() {
    let mistakes = [
        ("", "something is missing at the end (character 1)"),
        ("//", "something is missing at the end (character 3)"),
        ("^^^", "'^' has no meaning here (character 1)"),
        ("strong(//head/title)", "there is no function 'strong' (character 1)"),
        ("str:len('a')", "there is no function 'str:len' (character 1)"),
        ("//a[", "something is missing at the end (character 5)"),
        ("//a[1", "']' is missing (character 6)"),
        ("//a]", "']' has no meaning here (character 4)"),
        ("count(//a", "')' is missing (character 10)"),
        ("count('a')", "count() takes a node-set (character 1)"),
        ("count()", "count() takes one argument, not 0 (character 1)"),
        ("concat('a')", "concat() takes at least 2 arguments, not 1 (character 1)"),
        ("substring('a')", "substring() takes 2 or 3 arguments, not 1 (character 1)"),
        ("true(1)", "true() takes no argument, not 1 (character 1)"),
        ("'a", "a string has no end (character 1)"),
        ("//ä = \"ö", "a string has no end (character 7)"),
        ("//a[@b = $c]", "there are no variables in an expression; hurl's stand in double braces (character 10)"),
        ("parents::a", "'parents' is no axis (character 1)"),
        ("child::a::b", "'a' has no meaning here (character 8)"),
        ("//a b", "'b' is no operator (character 5)"),
        ("1 | //a", "'|' joins node-sets only (character 1)"),
        ("'a'/b", "only a node-set has a path from it (character 1)"),
        ("'a'[1]", "only a node-set has predicates (character 1)"),
        ("//a/string()", "a step cannot be the function 'string' (character 5)"),
        ("//a/1", "the number 1 has no meaning here (character 5)"),
        ("//a 'b'", "the string 'b' has no meaning here (character 5)"),
        ("p:", "a name is missing after 'p:' (character 1)"),
        ("//a = ", "something is missing at the end (character 7)"),
        ("..[1]", "'[' has no meaning here (character 3)"),
        ("text(", "')' is missing (character 6)"),
    ];
    for (text, what) in mistakes {
        let error = Expression::compile(text).expect_err(text);
        assert_eq!(error, format!("'{text}' is no XPath expression: {what}"));
    }
}

#[test]
fn size_has_bounds() {
    let nested = |open: &str, close: &str, count: usize| open.repeat(count) + "1" + &close.repeat(count);
    assert!(Expression::compile(&nested("(", ")", 60)).is_ok());
    for text in [nested("(", ")", 10_000), nested("a[", "]", 10_000), nested("not(", ")", 10_000)] {
        let error = Expression::compile(&text).expect_err("deep");
        assert!(error.contains("brackets are nested deeper than 64 (character "), "{error}");
    }
    let chained = vec!["1"; 1_000].join(" + ");
    assert!(Expression::compile(&chained).expect_err("long").contains("more than 64 operators follow each other"));
    for joint in [" or ", " | ", " and ", "/", "//"] {
        assert!(Expression::compile(&vec!["a"; 10_000].join(joint)).is_ok(), "{joint}");
    }
    assert!(Expression::compile(&("-".repeat(10_000) + "1")).is_ok());
    assert!(Expression::compile(&"a".repeat(100_000)).expect_err("long").contains("at most 65536 bytes"));
}
