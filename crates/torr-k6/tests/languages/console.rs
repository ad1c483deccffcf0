//! The global `console`, in k6's notation.

use torr_k6::api::console::Level;

use crate::script::load;

fn lines(source: &str) -> Vec<(Level, String)> {
    let outcome = load(&[("main.js", &format!("{source}\nexport default () => 0;"))]).unwrap().run(0);
    outcome.result.unwrap();
    outcome.console
}

#[test]
fn values_are_shown_in_the_notation_of_k6() {
    let cases = [
        ("1, 'a', null, undefined, true, 1.5, NaN, -0, 10n, Symbol('x')", "1 a null undefined true 1.5 NaN 0 10 x"),
        ("", ""),
        ("'%s %d', 'a', 1", "%s %d a 1"),
        ("[]", "[]"),
        ("{}", "{}"),
        ("[undefined, null]", "[ null, null ]"),
        ("[1, , 3]", "[ 1, null, 3 ]"),
        ("function foo() {}", "[object Function]"),
        ("new TypeError('tt'), { e: new Error('boom') }", "TypeError: tt { e: Error: boom }"),
        ("new Date(0)", "\"1970-01-01T00:00:00.000Z\""),
        ("{ a: new Date(NaN) }", "{ a: {} }"),
        ("/x/, new Map([[1, 2]]), new Set([1])", "{} {} {}"),
        (
            "new Uint8Array(3), new ArrayBuffer(2)",
            "Uint8Array(3) [ 0, 0, 0 ] ArrayBuffer { [Uint8Contents]: <00 00>, byteLength: 2 }",
        ),
        (
            "new ArrayBuffer(0), new Float64Array([1.5])",
            "ArrayBuffer { [Uint8Contents]: <>, byteLength: 0 } Float64Array(1) [ 1.5 ]",
        ),
        (
            "{ a: 1, 'b-c': 'x\"y', n: null, u: undefined, f() {}, arr: [1, '2', [3, {}]], big: 1n, sy: Symbol('q'), 12: 5 }",
            "{ 12: 5, a: 1, b-c: \"x\"y\", n: null, u: null, f: [object Function], arr: [ 1, \"2\", [ 3, {} ] ], big: 1, sy: \"q\" }",
        ),
        ("new (class Foo { constructor() { this.q = 1 } get z() { return 1 } })()", "{ q: 1 }"),
        ("{ get g() { return 7 } }", "{ g: 7 }"),
        ("'multi\\nline', ['multi\\nline']", "multi\nline [ \"multi\nline\" ]"),
        ("1e21, 1e-7, 0.1 + 0.2", "1e+21 1e-7 0.30000000000000004"),
        ("Symbol.iterator", "Symbol.iterator"),
    ];
    for (source, expected) in cases {
        let written = lines(&format!("console.log({source});"));
        assert_eq!(written, [(Level::Info, expected.to_owned())], "{source}");
    }
}

#[test]
fn cycles_and_depth_end() {
    let written = lines("const c = { a: 1 }; c.self = c; console.log(c); const l = [1]; l.push(l); console.log(l);");
    assert_eq!(written[0].1, "{ a: 1, self: [Circular] }");
    assert_eq!(written[1].1, "[ 1, [Circular] ]");
    let deep = lines("let o = {}; for (let i = 0; i < 100000; i++) o = { o }; console.log(o);");
    assert!(deep[0].1.contains("...") && deep[0].1.len() < 1000);
    let long = lines("console.log(new Array(3e6).fill('x'))");
    assert!(long[0].1.len() < 2 << 20);
}

#[test]
fn levels_have_methods() {
    let written =
        lines("console.debug('d'); console.info('i'); console.log('l'); console.warn('w'); console.error('e');");
    let levels: Vec<_> = written.iter().map(|(level, _)| *level).collect();
    assert_eq!(levels, [Level::Debug, Level::Info, Level::Info, Level::Warn, Level::Error]);
}
