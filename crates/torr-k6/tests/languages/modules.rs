//! Modules: names, formats, what is refused.

use std::sync::Arc;

use torr_k6::modules::{Access, Program};

use crate::script::{Script, builtins, folder, load};

fn run(files: &[(&str, &str)]) -> String {
    let script = load(files).unwrap_or_else(|error| panic!("{error}"));
    let first = script.run(0).result.unwrap_or_else(|error| panic!("{error}"));
    script.program.seal();
    // Later users load bytecode: they must come to the same.
    assert_eq!(script.run(1).result.unwrap(), first);
    first
}

fn refused(files: &[(&str, &str)]) -> String {
    match load(files) {
        Ok(_) => panic!("{} was loaded", files[0].1),
        Err(error) => error.to_string(),
    }
}

#[test]
fn files_are_found_relative_to_the_importing_file() {
    let files = [
        (
            "main.js",
            "import { a } from './lib/a.js'; import c from './c'; import d from './dir'; export default () => [a, c, d];",
        ),
        ("lib/a.js", "import { b } from '../b.js'; export const a = 'a' + b;"),
        ("b.js", "export const b = 'b';"),
        ("c.js", "export default 'c';"),
        ("dir/index.js", "export default 'd';"),
    ];
    assert_eq!(run(&files), r#"["ab","c","d"]"#);
}

#[test]
fn imports_of_one_built_in_module_share_its_state() {
    let main = "import encoding, { b64encode } from 'k6/encoding'; import * as all from 'k6/encoding';
        const required = require('k6/encoding');
        export default () => [encoding.b64encode === b64encode, all.b64encode === b64encode, all.default === encoding,
            required.b64encode === b64encode, required.default === encoding, required.__esModule];";
    assert_eq!(run(&[("main.js", main)]), "[true,true,true,true,true,true]");
}

#[test]
fn re_exports_and_live_bindings_and_cycles() {
    let files = [
        ("main.js", "export { default } from './other.js'; export { count as options } from './count.js';"),
        ("other.js", "import { count, up } from './count.js'; export default () => { up(); return count; };"),
        ("count.js", "import './other.js'; export let count = 1; export function up() { count++; }"),
    ];
    assert_eq!(run(&files), "2");
}

#[test]
fn json_with_a_mistake_is_named() {
    for source in [
        "import a from './a.json'; export default () => a;",
        "const a = require('./a.json'); module.exports = () => a;",
    ] {
        let error = load(&[("main.js", source), ("a.json", "{a: 1}")]).unwrap().run(0).result.unwrap_err();
        assert!(error.starts_with("SyntaxError: cannot parse 'file://") && error.contains("/a.json': "), "{error}");
    }
}

#[test]
fn a_file_without_import_and_export_is_common_js() {
    let files = [
        (
            "main.js",
            "import whole, { a, named } from './cjs.js'; import * as all from './cjs.js';
            export default () => [whole.a, a, named, Object.keys(all).sort(), undeclared];",
        ),
        (
            "cjs.js",
            "undeclared = 5; exports.a = 1; exports.named = require('./inner.js').value; module.exports.late = typeof this;",
        ),
        ("inner.js", "const data = require('./data.json'); module.exports = { value: data.n };"),
        ("data.json", "{\"n\": 7}"),
    ];
    assert_eq!(run(&files), r#"[1,1,7,["a","default","late","named"],5]"#);
}

#[test]
fn a_script_may_be_common_js_itself() {
    let files = [
        ("main.js", "'use strict';\nObject.defineProperty(exports, '__esModule', { value: true });
            const encoding = require('k6/encoding'); const other = require('./other');
            exports.options = { vus: 3 }; exports.default = function () { return [encoding.b64encode('a'), other.default] };"),
        ("other.js", "export default 'esm';"),
    ];
    assert_eq!(run(&files), r#"["YQ==","esm"]"#);
}

#[test]
fn common_js_cycles_see_what_is_exported_so_far() {
    let files = [
        ("main.js", "const a = require('./a.js'); exports.default = () => [a.early, a.seen];"),
        ("a.js", "exports.early = 1; exports.seen = require('./b.js').early;"),
        ("b.js", "exports.early = require('./a.js').early;"),
    ];
    assert_eq!(run(&files), "[1,1]");
}

#[test]
fn json_dynamic_imports_and_top_level_await() {
    let files = [
        (
            "main.js",
            "import data from './data.json'; const { b } = await import('./b.js');
            export default () => [data.n, b, import.meta.url.startsWith('file://')];",
        ),
        ("data.json", "{\"n\": 7}"),
        ("b.js", "#!/usr/bin/env k6\nexport const b = 'b';"),
    ];
    assert_eq!(run(&files), r#"[7,"b",true]"#);
}

#[test]
fn names_that_mean_nothing_are_named_with_their_position() {
    let cases = [
        ("import x from 'lodash';", "packages of npm are not supported"),
        ("import x from 'k6/nothing';", "no such built-in module"),
        ("import x from 'k6/x/faker';", "this extension of k6 is not supported"),
        ("import x from 'http://a.test/x.js';", "use https instead"),
        ("import x from './missing.js';", "no such file"),
        ("import x from 'https://a.test/x.js';", "cannot fetch 'https://a.test/x.js'"),
    ];
    for (import, expected) in cases {
        let error = refused(&[("main.js", &format!("// first line\n{import}\nexport default () => 1;"))]);
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("/main.js:2:15: "), "{error}");
    }
}

#[test]
fn a_file_outside_the_folder_is_refused() {
    let folder = folder(&[("inner/main.js", "import '../secret.js'; export default () => 1;"), ("secret.js", "")]);
    let access = crate::script::access(&folder.path().join("inner"));
    let error = Program::load(&folder.path().join("inner/main.js"), access, builtins()).err().unwrap();
    assert!(error.message.contains("may read only files below"), "{error}");
}

#[test]
fn mistakes_have_the_position_in_their_file() {
    let error = refused(&[("main.js", "import './bad.js';"), ("bad.js", "export const a = 1;\nexport const = 2;")]);
    assert!(error.contains("/bad.js:2:14: syntax error: "), "{error}");
    let thrown = load(&[
        ("main.js", "import { f } from './lib.js';\nexport default () => f();"),
        ("lib.js", "export function f() {\n  throw new Error('boom');\n}"),
    ])
    .unwrap();
    let error = thrown.run(0).result.unwrap_err();
    assert!(
        error.starts_with("Error: boom\n") && error.contains("/lib.js:2:") && error.contains("/main.js:2:"),
        "{error}"
    );
    thrown.program.seal();
    assert_eq!(thrown.run(1).result.unwrap_err(), error);
    let common = load(&[("main.js", "exports.default = function () {\n  throw new Error('boom');\n};")]).unwrap();
    let error = common.run(0).result.unwrap_err();
    assert!(error.contains("/main.js:2:"), "{error}");
}

#[test]
fn deeply_nested_sources_end() {
    for source in ["(".repeat(1 << 20), "[".repeat(1_900), "!".repeat(1_000_000), "a=".repeat(100_000) + "1"] {
        let error = load(&[("main.js", &source)]).err().map(|error| error.to_string());
        if let Some(error) = error {
            assert!(error.len() < 400, "{}", &error[..400]);
        }
    }
}

#[test]
fn remote_modules_are_fetched_once_and_import_their_neighbours() {
    let folder = folder(&[("main.js", "import { a } from 'https://a.test/lib/a.js'; export default () => a;")]);
    let fetch = |url: &str| match url {
        "https://a.test/lib/a.js?_k6=1" => Ok(b"import { b } from './b.js'; export const a = 'a' + b;".to_vec()),
        "https://a.test/lib/b.js" => Ok(b"export const b = 'b';".to_vec()),
        other => Err(format!("404 for {other}")),
    };
    let access = Access::new(folder.path(), None, false, Box::new(fetch)).unwrap();
    let program = Program::load(&folder.path().join("main.js"), access, builtins()).unwrap();
    let script = Script { _folder: folder, program: Arc::new(program), arrays: Arc::default() };
    assert_eq!(script.run(0).result.unwrap(), "\"ab\"");
}

#[test]
fn a_remote_module_may_not_import_a_local_file() {
    let folder = folder(&[("main.js", "import 'https://a.test/a.js';"), ("x.js", "")]);
    let local = format!("import 'file://{}/x.js';", folder.path().display());
    let fetch = move |_: &str| Ok(local.clone().into_bytes());
    let access = Access::new(folder.path(), None, false, Box::new(fetch)).unwrap();
    let error = Program::load(&folder.path().join("main.js"), access, builtins()).err().unwrap();
    assert!(error.to_string().contains("a remote module may not import a local file"), "{error}");
}

#[test]
fn a_script_may_come_from_its_text() {
    let folder = folder(&[("lib.js", "export default 3;")]);
    let text = b"import n from './lib.js'; export default () => n;".to_vec();
    let program = Program::from_text("-", text, crate::script::access(folder.path()), builtins()).unwrap();
    let script = Script { _folder: folder, program: Arc::new(program), arrays: Arc::default() };
    assert_eq!(script.run(0).result.unwrap(), "3");
}

#[test]
fn require_ends_with_the_top_level() {
    let script = load(&[("main.js", "export default () => require('k6/encoding');")]).unwrap();
    assert!(script.run(0).result.unwrap_err().contains("init context"));
}
