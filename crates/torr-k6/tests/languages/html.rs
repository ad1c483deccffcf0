//! `k6/html`, against what k6 itself says about the same documents.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::script::{load, thrown};

/// Runs a script whose document is in `page.html`, and returns what its default function returned.
fn run(page: &str, script: &str) -> Value {
    let main = format!(
        "import {{ parseHTML }} from 'k6/html'; import html from 'k6/html';
         const doc = html.parseHTML(open('page.html')); const input = open('input.json');
         export default () => {{ {script} }};"
    );
    let (page, input) = match page.split_once('\0') {
        Some((page, input)) => (page, input),
        None => (page, "null"),
    };
    let loaded = load(&[("main.js", &main), ("page.html", page), ("input.json", input)]).unwrap();
    let json = loaded.run(0).result.unwrap_or_else(|error| panic!("{error}"));
    serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

#[test]
fn selections_are_those_of_k6() {
    let files = [
        (include_str!("html/page.html"), include_str!("html/selections.json")),
        (include_str!("html/more.html"), include_str!("html/more.json")),
    ];
    for (page, cases) in files {
        check_selections(page, cases);
    }
}

fn check_selections(page: &str, cases: &str) {
    let page = format!("{page}\0{cases}");
    let script = "return JSON.parse(input).map(([source]) => {
        try { return String(JSON.stringify(new Function('doc', 'parseHTML', 'return ' + source)(doc, parseHTML))); }
        catch (error) { return String(error); }
    });";
    let results = run(&page, script);
    let cases: Vec<(String, String)> = serde_json::from_str(cases).unwrap();
    let mut wrong = Vec::new();
    for ((source, expected), result) in cases.iter().zip(results.as_array().unwrap()) {
        let result = result.as_str().unwrap();
        // The order of an object's keys is not defined.
        let same = match (serde_json::from_str::<Value>(result), serde_json::from_str::<Value>(expected)) {
            (Ok(result), Ok(expected)) => result == expected,
            _ => result == expected,
        };
        if !same {
            wrong.push(format!("{source}: {result}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Properties that are left out here: what stands behind them has no meaning without a browser.
const LEFT_OUT: [&str; 6] = ["crossOrigin", "mediaGroup", "sortable", "sorted", "textTracks", "validity"];
/// Where k6 is wrong by its own documents: it takes the value of a text area from an attribute, and has one size for all.
const WRONG: [(&str, &str); 4] =
    [("select", "size"), ("textarea", "defaultValue"), ("textarea", "length"), ("textarea", "value")];

#[test]
fn elements_are_those_of_k6() {
    let cases = include_str!("html/elements.json");
    let page = format!("{}\0{cases}", include_str!("html/elements.html"));
    let script = "return JSON.parse(input).map(([selector, name]) => {
        const element = doc.find(selector).get(0);
        if (typeof element[name] !== 'function') return 'missing';
        let value; try { value = element[name](); } catch (error) { return 'threw ' + error; }
        const shown = (one) => (one && one.nodeName ? 'EL ' + one.nodeName() : one);
        if (Array.isArray(value)) return JSON.stringify(value.map(shown));
        if (value && value.nodeName) return shown(value);
        return value && value.size ? 'SEL' + value.size() : String(JSON.stringify(value));
    });";
    let results = run(&page, script);
    let cases: Vec<(String, String, String)> = serde_json::from_str(cases).unwrap();
    let mut wrong = Vec::new();
    for ((selector, name, expected), result) in cases.iter().zip(results.as_array().unwrap()) {
        let (selector, name) = (selector.as_str(), name.as_str());
        if result != expected && !LEFT_OUT.contains(&name) && !WRONG.contains(&(selector, name)) {
            wrong.push(format!("{selector} {name}: {result}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn elements_compare_and_search() {
    let script = "const one = doc.find('#one').get(0); const b = doc.find('b').get(0);
        return [one.getAttribute('data-num'), one.getAttribute('zz') === undefined, one.getAttributeNode('class').value,
            Object.keys(one.attributes()), one.getElementsByClassName('p1').length, one.getElementsByTagName('P').length,
            one.hasAttribute('class'), one.matches('.a'), one.querySelector('b').nodeName(), one.querySelector('zzz') === undefined,
            one.querySelectorAll('p').length, one.isSameNode(doc.find('#one').get(0)), one.isEqualNode(b), one.contains(b), b.contains(one),
            doc.find('p').get(0).firstChild().nodeValue(), one.ownerDocument().nodeName(), one.selection().find('p').size(),
            doc.find('.m').index(doc.find('li').get(3)), String(one)];";
    let expected = r##"["5",true,"a b",["id","class","data-num","data-json","data-flag","data-null","data-foo-bar","data-empty"],1,2,true,true,
        "b",true,2,true,false,true,false,"First ","#document",2,1,"[object html.Node]"]"##;
    assert_eq!(run(include_str!("html/page.html"), script), serde_json::from_str::<Value>(expected).unwrap());
}

#[test]
fn documents_are_written_as_go_writes_them() {
    let page = "<p title=\"a&quot;b'c&lt;&amp;\">x &amp; \"y\" 'z' &lt; ></p><img src=a><br><script>if (a < b && c) {}</script>\
                <style>a > b{}</style><table><td>x</table><textarea>\n a</textarea><template><i>t</i></template>";
    let expected = "<p title=\"a&#34;b&#39;c&lt;&amp;\">x &amp; &#34;y&#34; &#39;z&#39; &lt; &gt;</p><img src=\"a\"/><br/>\
                    <script>if (a < b && c) {}</script><style>a > b{}</style>\
                    <table><tbody><tr><td>x</td></tr></tbody></table><textarea> a</textarea><template><i>t</i></template>";
    assert_eq!(run(page, "return doc.find('body').html();"), Value::from(expected));
}

#[test]
fn mistakes_are_named() {
    let import = "import { parseHTML } from 'k6/html'; const doc = parseHTML('<p>x</p>');";
    assert_eq!(thrown(import, "doc.find()"), "GoError: invalid argument, cannot use a '<nil>' as a selector");
    assert!(thrown(import, "doc.find(12)").starts_with("GoError: invalid argument"));
    assert!(thrown(import, "doc.find.call({}, 'p')").starts_with("TypeError"));
    assert!(thrown(import, "doc.each()").starts_with("TypeError"));
}

#[test]
fn hostile_documents_and_selectors_end() {
    let import = "import { parseHTML } from 'k6/html';
        const shown = (f) => { try { return String(f()).length < 1e7 } catch (error) { return String(error).startsWith('GoError') } };";
    let sources = [
        "shown(() => parseHTML('<div>'.repeat(100000)).text())",
        "shown(() => parseHTML('<i ' + 'a'.repeat(50000).split('').map((one, at) => one + at).join(' ') + '>').text())",
        "shown(() => parseHTML('<b>'.repeat(900) + 'x').find('b '.repeat(300)).size())",
        "shown(() => parseHTML('<b>'.repeat(900) + 'x').find('b:has(b:has(b:has(b:has(i))))').size())",
        "shown(() => parseHTML('<li>x'.repeat(30000)).find('li:nth-last-child(2n+1) ~ li:nth-child(3n)').size())",
        "shown(() => parseHTML('<p>' + 'x'.repeat(1e6)).find(':contains(\"y\")').size())",
        "shown(() => parseHTML('<p>x').find(':not('.repeat(1000)).size())",
        "shown(() => parseHTML('<p>x').find('p:matches((a{1000}){1000})').size())",
        "shown(() => parseHTML('<b>'.repeat(900) + 'x').find('b').parents().html())",
    ];
    let begin = Instant::now();
    for source in sources {
        assert_eq!(crate::script::expression(import, source), "true", "{source}");
    }
    // Without a bound some of these would take hours.
    assert!(begin.elapsed() < Duration::from_secs(240));
}

#[test]
fn single_selects_what_find_selects_first() {
    let page = "<ul><li>one<li>two</ul><ol><li>three</ol>";
    let script = "return [doc.single('li').text(), doc.single('li').size(), doc.find('ol').single('li').text(), doc.single('b').size()];";
    assert_eq!(run(page, script), serde_json::json!(["one", 1, "three", 0]));
}
