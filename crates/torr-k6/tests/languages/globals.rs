//! Globals that are no module.

use crate::script::{expression, load, thrown};

#[test]
fn what_k6_has_not_is_absent() {
    let names = "['fetch','URL','URLSearchParams','Buffer','process','btoa','atob','Intl','performance',\
                 'structuredClone','XMLHttpRequest','__dirname','navigator']";
    assert_eq!(expression("", &format!("{names}.filter((name) => typeof globalThis[name] !== 'undefined')")), "[]");
    assert_eq!(expression("", "global === globalThis"), "true");
}

#[test]
fn the_environment_is_strings() {
    assert_eq!(expression("", "[__ENV.NAME, __ENV.MISSING || 'default', __VU]"), "[\"value\",\"default\",0]");
    assert_eq!(expression("__ENV.OWN = 'x';", "__ENV.OWN"), "\"x\"");
}

#[test]
fn text_is_encoded_and_decoded() {
    let cases = [
        ("Array.from(new TextEncoder().encode('ü€'))", "[195,188,226,130,172]"),
        ("new TextDecoder().decode(new Uint8Array([195, 188]))", "\"ü\""),
        ("new TextDecoder('utf-16le').decode(new Uint8Array([65, 0]).buffer)", "\"A\""),
        ("new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 65]))", "\"A\""),
        (
            "[new TextDecoder('UTF8').encoding, new TextDecoder().fatal, new TextEncoder().encoding]",
            "[\"utf-8\",false,\"utf-8\"]",
        ),
        (
            "(() => { const d = new TextDecoder(); return d.decode(new Uint8Array([195]), { stream: true }) + d.decode(new Uint8Array([188])) })()",
            "\"ü\"",
        ),
        ("new TextEncoder() instanceof TextEncoder", "true"),
    ];
    for (source, expected) in cases {
        assert_eq!(expression("", source), expected, "{source}");
    }
    assert!(
        thrown("", "new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255]))").starts_with("TypeError")
    );
    assert!(thrown("", "new TextDecoder('nothing')").starts_with("RangeError"));
}

#[test]
fn open_reads_relative_to_the_module_that_runs() {
    let script = load(&[
        (
            "main.js",
            "import { helper, top } from './lib/help.js';
             const required = require('./lib/required.js');
             const own = [open('lib/data.txt'), helper('lib/data.txt'), open(import.meta.resolve('./lib/data.txt')),
                 required.top, required.later('lib/data.txt'), open('lib/data.txt')];
             const bytes = Array.from(new Uint8Array(open('./lib/data.txt', 'b')));
             export default () => ({ own, top, bytes });",
        ),
        // The folder of a module that is required is the base until it is evaluated, however it ends.
        (
            "lib/required.js",
            "try { require('./throws.js'); } catch (error) { if (error.message !== 'as it must') throw error; }
             module.exports = { top: require('./inner/again.js').top + open('data.txt'), later: (name) => open(name) };",
        ),
        ("lib/throws.js", "throw new Error('as it must');"),
        ("lib/inner/again.js", "exports.top = open('../data.txt') + open('./more.txt');"),
        ("lib/inner/more.txt", "more"),
        ("lib/help.js", "export const helper = (name) => open(name); export const top = open('./data.txt');"),
        ("lib/data.txt", "data"),
    ])
    .unwrap();
    let expected =
        r#"{"own":["data","data","data","datamoredata","data","data"],"top":"data","bytes":[100,97,116,97]}"#;
    assert_eq!(script.run(0).result.unwrap(), expected);
    script.program.seal();
    assert_eq!(script.run(1).result.unwrap(), expected);
}

#[test]
fn open_refuses_what_it_must_not_read() {
    let script = |source: &str| {
        let error = load(&[("main.js", source)]).unwrap().run(0).result.unwrap_err();
        error.lines().next().unwrap_or_default().to_owned()
    };
    assert!(script("open('missing.txt')").ends_with("no such file"));
    assert!(script("open('/etc/passwd')").contains("may read only files below"));
    assert!(script("open('https://x.test/a')").contains("only local files"));
    assert!(script("open('')").contains("needs the name of a file"));
    assert!(script("export default () => open('main.js')").contains("init context"));
    let conditional = load(&[("main.js", "if (__VU > 0) open('main.js'); export default () => 1;")]).unwrap();
    assert_eq!(conditional.run(0).result.unwrap(), "1");
    conditional.program.seal();
    assert!(conditional.run(1).result.unwrap_err().contains("first pass"));
}
