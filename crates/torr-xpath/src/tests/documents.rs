//! How HTML and XML become trees.

use crate::tree::{Kind, MAX_DEPTH, MAX_NODES, Node};
use crate::{Expression, Outcome, Tree, html, xml};

/// Writes a tree, so that its form can be seen.
fn written(tree: &Tree, node: Node) -> String {
    let inner = || tree.children(node).map(|child| written(tree, child)).collect::<String>();
    match tree.kind(node) {
        Kind::Element => {
            let attributes = tree.attributes(node);
            let attributes: String = attributes
                .map(|attribute| format!(" {}={}", tree.name(attribute).local, tree.string(attribute)))
                .collect();
            format!("<{}{attributes}>{}</>", tree.name(node).local, inner())
        }
        Kind::Text => tree.string(node).to_owned(),
        Kind::Comment => format!("<!{}>", tree.string(node)),
        Kind::Instruction => format!("<?{} {}>", tree.name(node).local, tree.string(node)),
        _ => inner(),
    }
}

fn find(tree: &Tree, expression: &str) -> Result<Outcome, String> {
    Expression::compile(expression).expect("it has no mistake").evaluate(tree)
}

#[test]
fn html_is_read_in_pieces_that_leave_no_trace() {
    let text = "\u{e9}".repeat(40_000);
    let page = format!("<p title='{text}'>{text}</p><!-- {} --><b>", "word ".repeat(3_000));
    let tree = html(&page).expect("it is HTML");
    let same = "count(//p/text())=1 and string-length(//p)=40000 and string-length(//p/@title)=40000 and //b";
    assert_eq!(find(&tree, &format!("boolean({same})")), Ok(Outcome::Boolean(true)));
}

/// The tokenizer compares each attribute with all before it.
#[test]
fn tags_with_too_many_attributes_are_refused() {
    let attributes = |between: &str| (0..20_000).map(|number| format!("{number:x}{between}")).collect::<String>();
    for between in [" ", "/", "=\"\"", "=''", "=x\n"] {
        for page in ["<a ", "</a ", "<!--x--><a ", "<a <!-- ", "<textarea></textarea><b ", "<script>a<b</script><b "] {
            let error = html(&format!("{page}{}>", attributes(between))).expect_err("it must be refused");
            assert_eq!(error, "the content's tags have too many attributes");
        }
    }
    let tag = format!("<a {}>", (0..500).map(|number| format!("a{number}=x ")).collect::<String>());
    assert!(html(&tag).is_ok());
    assert!(html(&tag.repeat(20)).is_err());
    // Text, comments and values may have as many words as they like.
    let words = "\"a b/c' ".repeat(100_000);
    for page in [format!("<p>{words}"), format!("<!-- <p {words} -->"), format!("<p a='{}'>", words.replace('\'', ""))]
    {
        assert!(html(&page).is_ok());
    }
    assert!(html(&format!("<script>if (a <b) {}</script>", &words[..4_000])).is_ok());
}

#[test]
fn html_is_read_as_it_is_written() {
    let forms = [
        ("<html></html>", "<html></>"),
        ("<title>T</title>x", "<html><head><title>T</></><body>x</></>"),
        ("<!DOCTYPE html><p>a<p>b", "<html><body><p>a</><p>b</></></>"),
        ("<ul><li>1<li>2</ul>", "<html><body><ul><li>1</><li>2</></></></>"),
        ("<P CLASS=a id='b' hidden>x&amp;y&nbsp;z", "<html><body><p class=a id=b hidden=>x&y\u{a0}z</></></>"),
        // Browsers add a `tbody`.
        ("<table><tr><td>1</table>", "<html><body><table><tr><td>1</></></></></>"),
        ("<table><tbody><tr><td>1</table>", "<html><body><table><tbody><tr><td>1</></></></></></>"),
        ("<table><td>1</table>", "<html><body><table><td>1</></></></>"),
        ("<table><col><tr></table>", "<html><body><table><col></><tr></></></></>"),
        // Misplaced tags.
        ("<b><p>x</b>y", "<html><body><b></><p><b>x</>y</></></>"),
        ("a</nothing>b", "<html><body>ab</></>"),
        ("<!--c--><p/>x<br/>y<i/>z", "<!c><html><body><p></>x<br></>y<i></>z</></>"),
        ("<script>if (a < b) '</p>'</script>", "<html><head><script>if (a < b) '</p>'</></></>"),
        ("<body><noscript><img src=a></noscript>", "<html><body><noscript><img src=a></></></></>"),
        ("<body><template><i>x</i></template>", "<html><body><template><i>x</></></></>"),
        // Foreign elements and attributes keep their spelling but for the case.
        (
            "<body><svg viewBox=1><linearGradient/><use xlink:href='#a'/></svg>",
            "<html><body><svg viewbox=1><lineargradient></><use xlink:href=#a></></></></>",
        ),
        ("<body><fb:like x:y=1>", "<html><body><fb:like x:y=1></></></>"),
    ];
    for (text, form) in forms {
        let tree = html(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(written(&tree, tree.root()), form, "{text}");
    }
    let tree = html("<a id=x>1</a><a id=y>2</a>").expect("it is HTML");
    assert_eq!(find(&tree, "string(id('z  y'))"), Ok(Outcome::Text("2".to_owned())));
    assert_eq!(find(&tree, "namespace-uri(//a)"), Ok(Outcome::Text(String::new())));
    assert_eq!(find(&tree, "//*[lang('en')]"), Ok(Outcome::Nodes(0)));
    assert_eq!(html(" \n").expect_err("empty"), "cannot parse HTML: the content is empty");
}

#[test]
fn xml_is_read_strictly() {
    let forms = [
        ("<a b='1&lt;'>x<![CDATA[<y>]]>&#65;<!--c--><?p d?></a>", "<a b=1<>x<y>A<!c><?p d></>"),
        ("\u{feff}\n<?xml version='1.0'?><a/>", "<a></>"),
        ("<!DOCTYPE a [<!ENTITY e 'text'>]><a>&e;</a>", "<a>text</>"),
        ("<!DOCTYPE a [<!ENTITY e '<b>t</b>'>]><a>&e;</a>", "<a><b>t</></>"),
        (
            "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY e \"'&#38;lt;\">]><a b='&e;' c='&#9;'>&e;</a>",
            "<a b='< c=\t>'<</>",
        ),
    ];
    for (text, form) in forms {
        let tree = xml(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(written(&tree, tree.root()), form, "{text}");
    }
    for text in ["", "{}", "<a>", "<a></b>", "<a>&nbsp;</a>", "<a/><b/>", "<p:a/>"] {
        let error = xml(text).expect_err(text);
        assert!(error.starts_with("cannot parse XML: "), "{text}: {error}");
    }
}

#[test]
fn prefixes_are_those_of_the_document() {
    let tree = xml("<a xmlns='urn:1' xmlns:p='urn:2'><b xmlns='urn:3'/><p:c q:d='1' xmlns:q='urn:4' xmlns:r='urn:2'/>\
        <r:c xmlns:r='urn:2'/><e xmlns=''/></a>")
    .expect("it is XML");
    let found = [
        ("count(//_:a)", "1"),
        ("count(//a)", "0"),
        ("count(//_:b)", "0"),
        ("count(//p:c)", "2"),
        ("count(//r:c)", "2"),
        ("count(//@q:d)", "1"),
        ("count(//e)", "1"),
        ("count(//e/namespace::*)", "2"),
        ("count(//_:a/namespace::*)", "3"),
        ("count(//r:c[1]/namespace::*)", "5"),
        ("name(//r:c[2])", "r:c"),
        ("name(//r:c[1])", "p:c"),
        ("name(//@q:d)", "q:d"),
        ("namespace-uri(//*[name() = 'b'])", "urn:3"),
    ];
    for (expression, expected) in found {
        let text = match find(&tree, expression).unwrap_or_else(|error| panic!("{expression}: {error}")) {
            Outcome::Number(number) => number.to_string(),
            Outcome::Text(text) => text,
            other => panic!("{expression}: {other:?}"),
        };
        assert_eq!(text, expected, "{expression}");
    }
    let undeclared = |prefix: &str| Err(format!("undeclared namespace prefix '{prefix}'"));
    assert_eq!(find(&tree, "//x:a"), undeclared("x"));
    let plain = html("<p>x").expect("it is HTML");
    assert_eq!(find(&plain, "//_:p"), undeclared("_"));
}

#[test]
fn what_is_beyond_a_limit_is_refused() {
    let deep = format!("the content is nested deeper than {MAX_DEPTH} elements");
    let many = format!("the content has more than {MAX_NODES} nodes");
    // A tag with an attribute for each letter.
    let tag = format!("<br{}/>", ('a'..='z').map(|letter| format!(" {letter}=''")).collect::<String>());
    let nested = |count: usize| "<a>".repeat(count) + &"</a>".repeat(count);
    assert!(xml(&nested(MAX_DEPTH)).is_ok());
    assert_eq!(xml(&nested(100_000)).expect_err("deep"), deep);
    assert!(html(&"<div>".repeat(MAX_DEPTH - 2)).is_ok());
    assert_eq!(html(&"<div>".repeat(5_000)).expect_err("deep"), deep);
    assert_eq!(html(&"<i x=1>".repeat(5_000)).expect_err("deep"), deep);
    assert_eq!(html(&tag.repeat(MAX_NODES / 27 + 1)).expect_err("many"), many);
    assert_eq!(xml(&format!("<a>{}</a>", tag.repeat(MAX_NODES / 27 + 1))).expect_err("many"), many);
    let laughs =
        format!("<!DOCTYPE a [<!--<!ENTITY ]>--><!ENTITY e '{}'>]><a>{}</a>", "x".repeat(100_000), "&e;".repeat(1_000));
    assert!(xml(&laughs).expect_err("large").starts_with("the content's entities could expand"));
    let wide = html(&"<i>x</i>".repeat(20_000)).expect("it is HTML");
    let slow = "//i[count(//i[. = 'y']) = 0]";
    assert_eq!(find(&wide, slow), Err("the XPath expression takes too long on this content".to_owned()));
}

#[test]
fn text_of_many_nodes_is_compared_in_time() {
    let wide = html(&"<i>x</i>".repeat(50_000)).expect("it is HTML");
    assert_eq!(find(&wide, "//i != //i"), Ok(Outcome::Boolean(false)));
    assert_eq!(find(&wide, "//i < //i"), Ok(Outcome::Boolean(false)));
    assert_eq!(find(&wide, "count(//i/following-sibling::i)"), Ok(Outcome::Number(49_999.0)));
    assert_eq!(find(&wide, "count(//i/preceding::i)"), Ok(Outcome::Number(49_999.0)));
    assert_eq!(
        find(&wide, "count(//i[preceding-sibling::i[1]][following-sibling::*[2]])"),
        Ok(Outcome::Number(49_997.0))
    );
    let deep = html(&"<div>".repeat(900)).expect("it is HTML");
    assert_eq!(find(&deep, "count(//div//div//div//div)"), Ok(Outcome::Number(897.0)));
}
