//! `k6/data`.

use crate::script::{expression, load, thrown};

const IMPORT: &str = "import { SharedArray } from 'k6/data';
const shared = new SharedArray('x', () => [{ a: 1, d: { e: [1] } }, 2, 'x', null]);";

#[test]
fn a_shared_array_reads_like_an_array() {
    let cases = [
        ("[shared.length, Array.isArray(shared), shared instanceof Array, typeof shared]", "[4,true,true,\"object\"]"),
        (
            "[shared[9] === undefined, shared[0] === shared[0], '1' in shared, '4' in shared, shared['-1'] === undefined]",
            "[true,false,true,false,true]",
        ),
        ("shared instanceof SharedArray", "false"),
        ("Object.keys(shared)", "[\"0\",\"1\",\"2\",\"3\"]"),
        ("shared", "[{\"a\":1,\"d\":{\"e\":[1]}},2,\"x\",null]"),
        ("[...shared].length", "4"),
        ("shared.map((one) => typeof one).join()", "\"object,number,string,object\""),
        ("shared.filter((one) => one === 2)", "[2]"),
        ("shared.indexOf('x')", "2"),
        ("Object.isFrozen(shared[0]) && Object.isFrozen(shared[0].d.e)", "true"),
        ("(() => { const all = []; for (const one of shared) all.push(one); return all.length })()", "4"),
        ("new SharedArray('x', () => [7])[0]", "{\"a\":1,\"d\":{\"e\":[1]}}"),
    ];
    for (source, expected) in cases {
        // `new SharedArray` belongs to the top level.
        let imports = format!("{IMPORT}\nconst value = {source};");
        assert_eq!(expression(&imports, "value"), expected, "{source}");
    }
}

#[test]
fn a_shared_array_cannot_be_written() {
    for source in ["shared[0] = 3", "shared.push(3)", "shared.length = 3", "delete shared[0]", "shared.foo = 3"] {
        assert_eq!(thrown(IMPORT, source), "TypeError: SharedArray is immutable", "{source}");
    }
    assert!(thrown(IMPORT, "shared[0].a = 3").starts_with("TypeError: "));
    assert!(thrown(IMPORT, "shared[0].d.e.push(3)").starts_with("TypeError: "));
}

#[test]
fn mistakes_are_named() {
    let cases = [
        ("new SharedArray('', () => [])", "GoError: empty name provided to SharedArray's constructor"),
        ("new SharedArray('y', () => 3)", "GoError: only arrays can be made into SharedArray"),
        ("new SharedArray('z')", "GoError: a function is expected as the second argument of SharedArray's constructor"),
        (
            "const long = []; long.length = 4e9; new SharedArray('long', () => long)",
            "RangeError: an array must have at most 10000000 items here, found 4000000000",
        ),
        (
            "new SharedArray('as', async () => [])",
            "GoError: SharedArray constructor does not support async functions as second argument",
        ),
    ];
    for (source, expected) in cases {
        let imports = format!("{IMPORT}\nlet error; try {{ {source} }} catch (caught) {{ error = String(caught) }}");
        assert_eq!(expression(&imports, "error"), format!("{expected:?}"), "{source}");
    }
    let late = thrown(IMPORT, "new SharedArray('late', () => [])");
    assert!(late.contains("init context"), "{late}");
}

#[test]
fn the_function_runs_once_for_all_users() {
    let script = load(&[(
        "main.js",
        "import { SharedArray } from 'k6/data';
         const shared = new SharedArray('numbers', () => { console.log('made'); return [1, 2] });
         export default () => shared[1] + __VU;",
    )])
    .unwrap();
    let first = script.run(0);
    assert_eq!((first.result.unwrap().as_str(), first.console.len()), ("2", 1));
    script.program.seal();
    for vu in 1..4 {
        let later = script.run(vu);
        assert_eq!((later.result.unwrap(), later.console.len()), ((vu + 2).to_string(), 0));
    }
}
