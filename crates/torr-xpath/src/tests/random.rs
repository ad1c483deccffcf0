//! Random paths on random documents, against the definitions of the recommendation followed literally; and random text, which
//! must not end in a panic.

use crate::evaluate::evaluate;
use crate::found::Found;
use crate::parser::parse;
use crate::tree::{Kind, Node, Tree};
use crate::{Expression, html, xml};
use proptest::prelude::*;
use proptest::sample::select;

const AXES: &[&str] = &[
    "ancestor",
    "ancestor-or-self",
    "attribute",
    "child",
    "descendant",
    "descendant-or-self",
    "following",
    "following-sibling",
    "namespace",
    "parent",
    "preceding",
    "preceding-sibling",
    "self",
];
const TESTS: &[&str] = &["node()", "*", "a", "b", "x", "text()", "comment()", "p:*"];

#[derive(Debug, Clone)]
struct Step {
    axis: &'static str,
    test: &'static str,
    predicates: Vec<Condition>,
}

#[derive(Debug, Clone)]
enum Condition {
    At(usize),
    Last,
    After(usize),
    Exists(Vec<Step>),
    Compares(Vec<Step>, &'static str, Vec<Step>),
}

fn text_of(steps: &[Step]) -> String {
    let steps = steps.iter().map(|step| {
        let predicates = step.predicates.iter().map(|condition| match condition {
            Condition::At(at) => format!("[{at}]"),
            Condition::Last => "[last()]".to_owned(),
            Condition::After(at) => format!("[position() > {at}]"),
            Condition::Exists(steps) => format!("[{}]", text_of(steps)),
            Condition::Compares(left, sign, right) => format!("[{} {sign} {}]", text_of(left), text_of(right)),
        });
        format!("{}::{}{}", step.axis, step.test, predicates.collect::<String>())
    });
    steps.collect::<Vec<_>>().join("/")
}

fn all_nodes(tree: &Tree) -> Vec<Node> {
    fn add(tree: &Tree, node: Node, all: &mut Vec<Node>) {
        all.push(node);
        all.extend(tree.namespaces(node));
        all.extend(tree.attributes(node));
        tree.children(node).for_each(|child| add(tree, child, all));
    }
    let mut all = Vec::new();
    add(tree, tree.root(), &mut all);
    all
}

/// Whether a node is on an axis of another, by the definition of the axis.
fn is_on(tree: &Tree, axis: &str, from: Node, node: Node) -> bool {
    let within = |inner: Node, outer: Node| {
        std::iter::successors(tree.parent(inner), |node| tree.parent(*node)).any(|node| node == outer)
    };
    let kind = tree.kind(node);
    let is_plain = |node: Node| !matches!(tree.kind(node), Kind::Attribute | Kind::Namespace);
    let is_sibling = is_plain(from) && is_plain(node) && from != node && tree.parent(from) == tree.parent(node);
    match axis {
        "self" => from == node,
        "child" => is_plain(node) && tree.parent(node) == Some(from),
        "parent" => tree.parent(from) == Some(node),
        "ancestor" => within(from, node),
        "ancestor-or-self" => from == node || within(from, node),
        "descendant" => is_plain(node) && within(node, from),
        "descendant-or-self" => from == node || (is_plain(node) && within(node, from)),
        "following" => is_plain(node) && node > from && !within(node, from),
        "preceding" => is_plain(node) && node < from && !within(from, node),
        "following-sibling" => is_sibling && node > from,
        "preceding-sibling" => is_sibling && node < from,
        "attribute" => kind == Kind::Attribute && tree.parent(node) == Some(from),
        "namespace" => kind == Kind::Namespace && tree.parent(node) == Some(from),
        other => panic!("{other} is no axis"),
    }
}

fn passes(tree: &Tree, step: &Step, node: Node) -> bool {
    let kind = tree.kind(node);
    let is_principal = match step.axis {
        "attribute" => kind == Kind::Attribute,
        "namespace" => kind == Kind::Namespace,
        _ => kind == Kind::Element,
    };
    let name = tree.name(node);
    match step.test {
        "node()" => true,
        "text()" => kind == Kind::Text,
        "comment()" => kind == Kind::Comment,
        "*" => is_principal,
        "p:*" => is_principal && name.namespace == "urn:p",
        local => is_principal && name.namespace.is_empty() && name.local == local,
    }
}

/// Follows a path by the definitions: each step from each node by itself.
fn naive(tree: &Tree, all: &[Node], steps: &[Step], from: Node) -> Vec<Node> {
    let mut nodes = vec![from];
    for step in steps {
        let mut next = Vec::new();
        for from in &nodes {
            let mut found: Vec<Node> = all
                .iter()
                .copied()
                .filter(|node| is_on(tree, step.axis, *from, *node) && passes(tree, step, *node))
                .collect();
            if step.axis.starts_with("ancestor") || step.axis.starts_with("preceding") {
                found.reverse();
            }
            for condition in &step.predicates {
                let size = found.len();
                let holds = |(index, node): &(usize, Node)| naive_holds(tree, all, condition, *node, index + 1, size);
                found = found.into_iter().enumerate().filter(holds).map(|(_, node)| node).collect();
            }
            next.extend(found);
        }
        next.sort();
        next.dedup();
        nodes = next;
    }
    nodes
}

fn naive_holds(tree: &Tree, all: &[Node], condition: &Condition, node: Node, position: usize, size: usize) -> bool {
    match condition {
        Condition::At(at) => position == *at,
        Condition::Last => position == size,
        Condition::After(at) => position > *at,
        Condition::Exists(steps) => !naive(tree, all, steps, node).is_empty(),
        Condition::Compares(left, sign, right) => {
            let right = naive(tree, all, right, node);
            naive(tree, all, left, node).iter().any(|left| {
                right.iter().any(|right| {
                    let (left, right) = (tree.string(*left), tree.string(*right));
                    let number = |text: &str| text.trim().parse().unwrap_or(f64::NAN);
                    match *sign {
                        "=" => left == right,
                        "!=" => left != right,
                        "<" => number(left) < number(right),
                        "<=" => number(left) <= number(right),
                        ">" => number(left) > number(right),
                        _ => number(left) >= number(right),
                    }
                })
            })
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let plain = (select(AXES), select(TESTS)).prop_map(|(axis, test)| Step { axis, test, predicates: Vec::new() });
    let inner = prop::collection::vec(plain, 1..3);
    let signs = select(&["=", "!=", "<", "<=", ">", ">="][..]);
    let condition = prop_oneof![
        (0..4usize).prop_map(Condition::At),
        Just(Condition::Last),
        (0..3usize).prop_map(Condition::After),
        inner.clone().prop_map(Condition::Exists),
        (inner.clone(), signs, inner).prop_map(|(left, sign, right)| Condition::Compares(left, sign, right)),
    ];
    let step = (select(AXES), select(TESTS), prop::collection::vec(condition, 0..3));
    prop::collection::vec(step.prop_map(|(axis, test, predicates)| Step { axis, test, predicates }), 1..5)
}

fn document() -> impl Strategy<Value = String> {
    let leaf =
        select(&["<a/>", "<b x='1'/>", "<p:a p:x='2'/>", "1", "2.5", "t", "<!--c-->", "<a x='2' y='t'>3</a>"][..]);
    let element = leaf.prop_map(str::to_owned).prop_recursive(5, 40, 4, |inner| {
        let tags =
            select(&[("<a>", "</a>"), ("<b x='3'>", "</b>"), ("<b xmlns:q='urn:q'>", "</b>"), ("<x>", "</x>")][..]);
        (tags, prop::collection::vec(inner, 0..4))
            .prop_map(|((begin, end), inner)| format!("{begin}{}{end}", inner.concat()))
    });
    prop::collection::vec(element, 0..4).prop_map(|inner| format!("<a xmlns:p='urn:p'>{}</a>", inner.concat()))
}

/// Text that is often nearly an expression.
fn nearly_expression() -> impl Strategy<Value = String> {
    let pieces = [
        "//",
        "/",
        "a",
        "b",
        "*",
        "@",
        "x",
        "[",
        "]",
        "(",
        ")",
        "1",
        "2.5",
        "'t'",
        "\"",
        " ",
        "::",
        "ancestor::",
        "..",
        ".",
        "|",
        "and",
        " or ",
        " div ",
        "mod",
        "+",
        "-",
        "=",
        "!=",
        "<",
        ">=",
        ",",
        "$",
        "p:",
        "count(",
        "last()",
        "position()",
        "string(",
        "substring('é',",
        "text()",
        "node()",
        "not(",
        "id(",
        "ä",
        "\u{0}",
        "translate(",
        "lang('",
        "sum(",
        "concat(",
        "1 div 0",
    ];
    prop::collection::vec(select(pieces.to_vec()), 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn paths_find_what_the_definitions_say(document in document(), steps in steps(), is_absolute: bool) {
        let tree = xml(&document).expect("it is XML");
        let all = all_nodes(&tree);
        prop_assert!(all.is_sorted_by(|before, after| before < after));
        let expected = naive(&tree, &all, &steps, tree.root());
        let text = format!("{}{}", if is_absolute { "/" } else { "" }, text_of(&steps));
        let found = evaluate(&parse(&text).expect("it has no mistake"), &tree).expect("it is evaluated");
        let Found::Nodes(found) = found else { panic!("{text} is a path") };
        prop_assert_eq!(&found, &expected, "{} on {}", text, document);
        // Behind `//` a step has two ways, one of which makes one step of two.
        let expected = naive(&tree, &all, &[&[Step { axis: "descendant-or-self", test: "node()", predicates: vec![] }], &steps[..]].concat(), tree.root());
        let found = evaluate(&parse(&format!("//{}", text_of(&steps))).expect("it has no mistake"), &tree).expect("it is evaluated");
        let Found::Nodes(found) = found else { panic!("{text} is a path") };
        prop_assert_eq!(found, expected, "//{} on {}", text, document);
    }

    #[test]
    fn no_expression_panics(text in nearly_expression(), document in document()) {
        if let Ok(expression) = Expression::compile(&text) {
            let _ = expression.evaluate(&xml(&document).expect("it is XML"));
            let _ = expression.evaluate(&html(&document).expect("it is HTML"));
        }
    }

    #[test]
    fn no_html_panics(pieces in prop::collection::vec(select(vec![
        "<table>", "<tr>", "<td>", "</table>", "<b>", "</b>", "<p>", "</p>", "<p/>", "<i x=1>", "</i>", "x", " ", "<svg>", "<g/>",
        "</svg>", "<math>", "<mi>", "<template>", "</template>", "<select>", "<option>", "</select>", "<frameset>", "<body a=1>",
        "<html b>", "<head>", "</head>", "<title/>", "<script>", "</script>", "<!--", "-->", "&amp;", "&#0;", "\u{0}", "<form>",
        "</form>", "<a href=b>", "<a/>", "</body>", "</html>", "<br/>", "</br>", "<tbody>", "<col>", "<caption/>", "<image>",
        "<textarea>", "<plaintext>", "<noscript>", "<foreignObject>", "<![CDATA[x]]>", "<?php", "<input type=hidden>", "<nobr>",
    ]), 1..30)) {
        let text = pieces.concat();
        if !text.trim().is_empty() {
            let tree = html(&text).expect("it is within the limits");
            let all = all_nodes(&tree);
            prop_assert!(all.is_sorted_by(|before, after| before < after), "{}", text);
            let texts: String = all.iter().filter(|node| tree.kind(**node) == Kind::Text).map(|node| tree.string(*node)).collect();
            prop_assert_eq!(texts, tree.string(tree.root()), "{}", text);
        }
    }
}
