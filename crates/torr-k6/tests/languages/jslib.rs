//! Modules of jslib.k6.io, which need no network.

use rquickjs::module::Declared;
use rquickjs::{Ctx, Module, Object, Result};
use std::sync::Arc;
use torr_k6::api::registry;
use torr_k6::modules::{Builtins, Program};

use crate::script::{Script, access, folder};

/// Stands for modules that need a run, with values that tests can foresee.
const STUBS: [(&str, &str); 3] = [
    (
        "k6/execution",
        "export const vu = { metrics: { tags: {} } };
         export const scenario = { name: 'stages', startTime: Date.now() - 90000 };
         const stages = [{ duration: '1m', target: 5 }, { duration: '0.5m45s', target: 2 }, { duration: 60000, target: 2 }];
         export const test = { options: { scenarios: { stages: { executor: 'ramping-vus', stages }, others: {} } } };
         export default { vu, scenario, test };",
    ),
    ("k6", "export const check = () => true; export const sleep = () => {}; export default { check, sleep };"),
    (
        "k6/http",
        "export const request = (...all) => all; export const asyncRequest = async (...all) => all; export const batch = (list) => list;
         export default { request, asyncRequest, batch };",
    ),
];

fn stub(name: &str) -> Option<&'static str> {
    STUBS.iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
}

fn declare<'js>(ctx: &Ctx<'js>, name: &str) -> Option<Result<Module<'js, Declared>>> {
    match stub(name) {
        Some(source) => Some(Module::declare(ctx.clone(), name, source)),
        None => registry::declare(ctx, name),
    }
}

fn require<'js>(ctx: &Ctx<'js>, name: &str) -> Option<Result<Object<'js>>> {
    registry::require(ctx, name)
}

fn value(imports: &str, expression: &str, files: &[(&str, &str)]) -> String {
    let main = format!("{imports}\nexport default async () => ({expression});");
    let mut all = vec![("main.js", main.as_str())];
    all.extend_from_slice(files);
    let folder = folder(&all);
    let builtins = Builtins { has: |name| stub(name).is_some() || registry::has(name), declare, require };
    let program = Program::load(&folder.path().join("main.js"), access(folder.path()), builtins)
        .unwrap_or_else(|error| panic!("{error}"));
    let script = Script { _folder: folder, program: Arc::new(program), arrays: Arc::default() };
    script.run(0).result.unwrap_or_else(|error| panic!("{error}"))
}

fn all_equal(imports: &str, cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        assert_eq!(value(imports, source, &[]), *expected, "{source}");
    }
}

#[test]
fn utilities() {
    let imports = "import { uuidv4, randomIntBetween, randomItem, randomString, findBetween, normalDistributionStages,
        parseDuration, getCurrentStageIndex, tagWithCurrentStageIndex, tagWithCurrentStageProfile } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';
        import { vu, scenario } from 'k6/execution';
        const many = (make) => Array.from({ length: 500 }, make);
        const thrown = (f) => { try { f(); return false } catch { return true } };";
    let cases = [
        (
            "many(() => uuidv4()).every((one) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(one))",
            "true",
        ),
        ("uuidv4(true).length", "36"),
        ("[...new Set(many(() => randomIntBetween(3, 5)))].sort()", "[3,4,5]"),
        ("[...new Set(many(() => randomItem(['a', 'b'])))].sort()", "[\"a\",\"b\"]"),
        ("[randomString(5, 'a'), /^[a-z]{8}$/.test(randomString(8)), randomString(0)]", "[\"aaaaa\",true,\"\"]"),
        ("findBetween('let token=\"secret token\";', 'token=\"', '\"')", "\"secret token\""),
        ("findBetween('<a>1</a><a>2</a>', '<a>', '</a>', true)", "[\"1\",\"2\"]"),
        (
            "[findBetween('x', '<', '>'), findBetween('<x', '<', '>'), findBetween('x', '<', '>', true), findBetween('**a**', '**', '**')]",
            "[null,null,[],\"a\"]",
        ),
        ("findBetween('aaa', '', '', true).length < 10", "true"),
        ("parseDuration('1d5h31m20s9ms')", "106280009"),
        (
            "['5.2h', '9.3ms', '1531209', '9.h1.s', '1s12', '0', '0s'].map(parseDuration)",
            "[18720000,9,1531209,32401000,1012,0,0]",
        ),
        ("['1s 1s 1s', '1w', '', 'x'].map((one) => thrown(() => parseDuration(one)))", "[true,true,true,true]"),
        ("getCurrentStageIndex()", "1"),
        (
            "(tagWithCurrentStageIndex(), tagWithCurrentStageProfile(), vu.metrics.tags)",
            "{\"stage\":\"1\",\"stage_profile\":\"ramp-down\"}",
        ),
        (
            "(scenario.startTime -= 1e6, tagWithCurrentStageIndex(), tagWithCurrentStageProfile(), vu.metrics.tags)",
            "{\"stage\":\"2\",\"stage_profile\":\"steady\"}",
        ),
        (
            "(scenario.startTime = Date.now(), tagWithCurrentStageIndex(), tagWithCurrentStageProfile(), vu.metrics.tags)",
            "{\"stage\":\"0\",\"stage_profile\":\"ramp-up\"}",
        ),
        ("(scenario.name = 'others', thrown(getCurrentStageIndex))", "true"),
        ("normalDistributionStages(10, 20, 5).map((one) => one.duration).join()", "\"4s,3s,3s,3s,3s,3s,4s\""),
        (
            "(() => { const all = normalDistributionStages(100, 600).map((one) => one.target); return [all.length, all.at(-1), Math.max(...all) > 90, all[0] < 20] })()",
            "[12,0,true,true]",
        ),
    ];
    all_equal(imports, &cases);
    for version in ["1.0.0", "1.1.0", "1.2.0", "1.3.0"] {
        let imports = format!("import {{ randomIntBetween }} from 'https://jslib.k6.io/k6-utils/{version}/index.js';");
        assert_eq!(value(&imports, "randomIntBetween(2, 2)", &[]), "2");
    }
}

#[test]
fn a_summary_as_text_is_that_of_k6() {
    let cases = [
        (include_str!("summary/plain.json"), include_str!("summary/plain.txt"), "false"),
        (include_str!("summary/colour.json"), include_str!("summary/colour.txt"), "true"),
    ];
    for (data, expected, colours) in cases {
        let imports = "import { textSummary } from 'https://jslib.k6.io/k6-summary/0.0.2/index.js'; import data from './data.json';";
        let call = format!("textSummary(data, {{ indent: ' ', enableColors: {colours} }})");
        let text: String = serde_json::from_str(&value(imports, &call, &[("data.json", data)])).unwrap();
        for (line, wanted) in text.lines().zip(expected.lines()) {
            assert_eq!(line, wanted);
        }
        assert_eq!(text, expected);
    }
}

#[test]
fn summaries_have_their_forms() {
    let imports = "import { textSummary, jUnit, humanizeValue } from 'https://jslib.k6.io/k6-summary/0.1.0/index.js'; import data from './data.json';";
    let data = include_str!("summary/plain.json");
    let text: String = serde_json::from_str(&value(imports, "textSummary(data, { indent: '→', enableColors: false, summaryTimeUnit: 'ms', summaryTrendStats: ['avg', 'p(95)', 'count'] })",
        &[("data.json", &data.replace("\"avg\":", "\"count\": 7, \"avg\":"))])).unwrap();
    assert!(text.starts_with("→    ✓ ok\n") && text.contains("→    my_time..............: avg=947000.50ms"), "{text}");
    assert!(text.contains(" count=7\n"), "{text}");
    let junit: String = serde_json::from_str(&value(imports, "jUnit(data)", &[("data.json", data)])).unwrap();
    assert!(junit.starts_with("<?xml version=\"1.0\"?>\n<testsuites tests=\"5\" failures=\"1\">\n<testsuite name=\"k6 thresholds\" tests=\"5\" failures=\"1\">"), "{junit}");
    assert!(junit.contains("<testcase name=\"my_trend - avg&lt;1000\" />"), "{junit}");
    assert!(junit.contains("<testcase name=\"my_trend - p(95)&lt;2\"><failure message=\"failed, "), "{junit}");
    let cases = [
        ("humanizeValue(0.12345, { type: 'rate' })", "\"12.34%\""),
        (
            "[0, 999, 1000, 9990, 12345, 1e6].map((one) => humanizeValue(one, { type: 'counter', contains: 'data' }))",
            "[\"0 B\",\"999 B\",\"1.0 kB\",\"10 kB\",\"12 kB\",\"1.0 MB\"]",
        ),
        (
            "[0, 0.000122, 0.5, 1.239, 59999, 65000, 3723000].map((one) => humanizeValue(one, { type: 'trend', contains: 'time' }))",
            "[\"0s\",\"122ns\",\"500µs\",\"1.23ms\",\"59.99s\",\"1m5s\",\"1h2m3s\"]",
        ),
        ("humanizeValue(1.5, { type: 'trend', contains: 'time' }, 'us')", "\"1500.00µs\""),
        ("humanizeValue(1.23456789, { type: 'gauge', contains: 'default' })", "\"1.234568\""),
    ];
    for (source, expected) in cases {
        assert_eq!(value(imports, source, &[("data.json", data)]), expected, "{source}");
    }
}

#[test]
fn comma_separated_values() {
    let imports = "import papaparse from 'https://jslib.k6.io/papaparse/5.1.1/index.js'; const { parse, unparse } = papaparse; const data = (...all) => parse(...all).data;";
    let cases = [
        ("data('a,b\\n1,2\\n3,4', { header: true })", r#"[{"a":"1","b":"2"},{"a":"3","b":"4"}]"#),
        ("data('a,b\\r\\n1,2\\r\\n')", r#"[["a","b"],["1","2"],[""]]"#),
        ("data('a,b\\n1,2\\n', { skipEmptyLines: true })", r#"[["a","b"],["1","2"]]"#),
        ("data('a,b\\n , \\n1,2', { skipEmptyLines: 'greedy' })", r#"[["a","b"],["1","2"]]"#),
        ("data('a;b\\n1;2')", r#"[["a","b"],["1","2"]]"#),
        ("parse('a\\tb\\n1\\t2').meta.delimiter", "\"\\t\""),
        (
            "data('\"x,1\",\"say \"\"hi\"\"\",\"two\\nlines\"\\n1,2,3')",
            r#"[["x,1","say \"hi\"","two\nlines"],["1","2","3"]]"#,
        ),
        ("data('n,s,t\\n1.5,x,true', { header: true, dynamicTyping: true })", r#"[{"n":1.5,"s":"x","t":true}]"#),
        ("data('n,s\\n1,2', { header: true, dynamicTyping: { n: true } })", r#"[{"n":1,"s":"2"}]"#),
        ("data('# note\\na,b', { comments: '#' })", r#"[["a","b"]]"#),
        ("data('a\\n1\\n2\\n3', { header: true, preview: 2 })", r#"[{"a":"1"},{"a":"2"}]"#),
        ("data('a,b\\n1', { delimiter: ',', transform: (one) => one + '!' })", r#"[["a!","b!"],["1!"]]"#),
        ("data('A\\n1', { header: true, transformHeader: (one) => one.toLowerCase() })", r#"[{"a":"1"}]"#),
        (
            "parse('a,b\\n1\\n1,2,3', { header: true }).errors.map((one) => one.code)",
            r#"["TooFewFields","TooManyFields"]"#,
        ),
        ("data('a,b\\n1,2,3', { header: true })", r#"[{"a":"1","b":"2","__parsed_extra":["3"]}]"#),
        ("parse('a').errors[0].code", "\"UndetectableDelimiter\""),
        ("parse('\"a').errors.map((one) => one.code)", r#"["UndetectableDelimiter","MissingQuotes"]"#),
        ("data('')", "[]"),
        ("data('a,')", r#"[["a",""]]"#),
        ("data('\\ufeffa,b')", r#"[["a","b"]]"#),
        ("parse('a,b\\n1,2', { header: true }).meta.fields", r#"["a","b"]"#),
        (
            "(() => { const rows = []; parse('1,2\\n3,4', { step: (row) => rows.push(row.data) }); return rows })()",
            r#"[["1","2"],["3","4"]]"#,
        ),
        ("unparse([{ a: 1, b: 'x,y' }, { a: null, b: 'q\"' }])", r#""a,b\r\n1,\"x,y\"\r\n,\"q\"\"\"""#),
        ("unparse([[1, 2], [3, ' 4']])", r#""1,2\r\n3,\" 4\"""#),
        (
            "unparse({ fields: ['a'], data: [['x']] }, { delimiter: ';', newline: '\\n', quotes: true })",
            r#""\"a\"\n\"x\"""#,
        ),
        ("unparse([{ a: 1, b: 2 }], { header: false, columns: ['b'] })", "\"2\""),
        ("data(unparse([['a', 'b\\n\"c'], ['', '1']]))", r#"[["a","b\n\"c"],["","1"]]"#),
        ("data('x,y\\n'.repeat(20000)).length", "20001"),
        ("data('\"'.repeat(20000)).length", "1"),
    ];
    all_equal(imports, &cases);
}

#[test]
fn addresses() {
    let imports = "import { URL, URLSearchParams } from 'https://jslib.k6.io/url/1.0.0/index.js';";
    let cases = [
        (
            "new URL('https://user:pw@Example.com:8080/a/../b?x=1&y=a%20b#h')",
            "\"https://user:pw@example.com:8080/b?x=1&y=a%20b#h\"",
        ),
        (
            "(() => { const u = new URL('/p?q', 'http://a.test/x'); return [u.href, u.origin, u.protocol, u.host, u.hostname, u.port, u.pathname, u.search, u.hash] })()",
            r#"["http://a.test/p?q","http://a.test","http:","a.test","a.test","","/p","?q",""]"#,
        ),
        (
            "(() => { const u = new URL('http://a.test/?x=1'); u.searchParams.append('y', 'a b&'); u.searchParams.set('x', '2'); return [String(u), u.search] })()",
            r#"["http://a.test/?x=2&y=a+b%26","?x=2&y=a+b%26"]"#,
        ),
        (
            "(() => { const u = new URL('http://a.test/?x=1'); u.search = '?z=3'; u.port = '81'; u.pathname = '/ü'; u.hash = 'h'; return [u.toString(), u.searchParams.get('z'), u.searchParams.has('x')] })()",
            r#"["http://a.test:81/%C3%BC?z=3#h","3",false]"#,
        ),
        ("(() => { try { new URL('nothing') } catch (error) { return error.name } })()", "\"TypeError\""),
        ("new URLSearchParams({ a: 1, b: 'x y' }).toString()", "\"a=1&b=x+y\""),
        ("new URLSearchParams([['a', '1'], ['a', '2']]).getAll('a')", r#"["1","2"]"#),
        ("[...new URLSearchParams('?b=2&a=1')]", r#"[["b","2"],["a","1"]]"#),
        (
            "(() => { const p = new URLSearchParams('b=2&a=1&b=3'); p.sort(); p.delete('a'); return [p.toString(), p.get('zz'), [...p.keys()], [...p.values()], p.size] })()",
            r#"["b=2&b=3",null,["b","b"],["2","3"],2]"#,
        ),
        ("URL.canParse('http://a')", "true"),
    ];
    all_equal(imports, &cases);
    let error = crate::script::load(&[("main.js", "import { parse } from 'torr:url';")]).err().unwrap();
    assert!(error.to_string().contains("not a built-in module"), "{error}");
}

#[test]
fn multipart_bodies() {
    let imports = "import { FormData } from 'https://jslib.k6.io/formdata/0.0.2/index.js';
        const filled = () => { const fd = new FormData(); fd.boundary = 'B'; fd.append('field', 'old'); fd.append('field', 'value2');
            fd.append('file', { data: 'ü', filename: 'a\"b.txt', content_type: 'text/plain' }); fd.append('raw', new Uint8Array([1, 2]).buffer); fd.set('field', 'new'); return fd };
        const text = (buffer) => new TextDecoder().decode(buffer);";
    let body = "--B\\r\\nContent-Disposition: form-data; name=\\\"file\\\"; filename=\\\"a%22b.txt\\\"\\r\\nContent-Type: text/plain\\r\\n\\r\\nü\\r\\n\
                --B\\r\\nContent-Disposition: form-data; name=\\\"raw\\\"; filename=\\\"blob\\\"\\r\\nContent-Type: application/octet-stream\\r\\n\\r\\n\\u0001\\u0002\\r\\n\
                --B\\r\\nContent-Disposition: form-data; name=\\\"field\\\"\\r\\n\\r\\nnew\\r\\n--B--\\r\\n";
    assert_eq!(value(imports, "text(filled().body())", &[]), format!("\"{body}\""));
    assert_eq!(
        value(
            imports,
            "[new FormData().boundary !== new FormData().boundary, filled().body() instanceof ArrayBuffer, filled().get('field'), filled().has('x')]",
            &[]
        ),
        "[true,true,\"new\",false]"
    );
}

#[test]
fn a_client_with_defaults() {
    let imports = "import { Httpx, Get, Post } from 'https://jslib.k6.io/httpx/0.1.0/index.js';
        const session = new Httpx({ baseURL: 'http://a.test', headers: { A: '1' }, tags: { t: 'x' }, timeout: 20000 });
        session.addHeader('B', '2'); session.addHeader('C', '3'); session.clearHeader('C');";
    assert_eq!(
        value(imports, "session.post('/p', 'body', { headers: { A: '9' }, redirects: 0 })", &[]),
        r#"["POST","http://a.test/p","body",{"timeout":20000,"headers":{"A":"9","B":"2"},"redirects":0,"tags":{"t":"x"}}]"#
    );
    assert_eq!(value(imports, "session.get('https://b.test/').slice(0, 2)", &[]), r#"["GET","https://b.test/"]"#);
    assert_eq!(
        value(
            imports,
            "session.batch([new Get('/g'), new Post('/p', 'b')]).map((one) => [one.method, one.url, one.body ?? null])",
            &[]
        ),
        r#"[["GET","http://a.test/g",null],["POST","http://a.test/p","b"]]"#
    );
}
