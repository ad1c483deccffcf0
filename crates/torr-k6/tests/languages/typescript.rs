//! TypeScript: only its types go, and positions stay those of the source.

use crate::script::load;

fn run(source: &str) -> String {
    let script = load(&[
        ("main.ts", source),
        (
            "types.ts",
            "export interface Shape { name: string }\nexport type Id = number;\nexport enum Kind { A, B = 5, C }\n",
        ),
    ])
    .unwrap_or_else(|error| panic!("{error}"));
    script.run(0).result.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn types_are_stripped_and_enums_and_namespaces_lowered() {
    let source = "import { Options } from 'k6/options';
import type { Shape } from './types';
import { Kind, type Id } from './types';
import encoding from 'k6/encoding';
export const options: Options = { vus: 1 } satisfies object;
enum Colour { Red = 'r', Green = 'g' }
const enum Fast { One = 1, Two }
namespace Names { export const first = 'n'; export function twice(text: string): string { return text + text } }
abstract class Base<T> { constructor(private readonly value: T, public id?: Id) {} get(): T { return this.value! } }
class Own extends Base<number> { static made = 0; declare nothing: string; }
function pick<T extends Shape>(one: T): T['name'] { return one.name as string }
export default function (): unknown {
  const own = new Own(4, 2);
  return [Colour.Red, Fast.Two, Names.twice(Names.first), own.get(), own.id, pick({ name: 'p' }), Kind.C, Kind[5], (<any>own).value,
    encoding.b64encode('a'), own?.get() ?? 0];
}";
    assert_eq!(run(source), r#"["r",2,"nn",4,2,"p",6,"B",4,"YQ==",4]"#);
}

#[test]
fn errors_name_the_position_in_the_source() {
    let source = "interface Long {\n  a: string;\n  b: number;\n}\n\ntype X =\n  | 'a'\n  | 'b';\n\nexport default function (): void {\n  const value: Long | null = null;\n  boom(value!);\n}\n\nfunction boom(value: Long): never {\n  throw new Error('boom ' + value);\n}\n";
    let script = load(&[("main.ts", source)]).unwrap();
    let error = script.run(0).result.unwrap_err();
    assert!(error.starts_with("Error: boom null\n"), "{error}");
    assert!(error.contains("/main.ts:16:") && error.contains("/main.ts:12:"), "{error}");
}

#[test]
fn mistakes_have_their_position() {
    let error = load(&[("main.ts", "const a: number = 1;\nexport const b: = 2;\n")]).err().unwrap().to_string();
    assert!(error.contains("/main.ts:2:17: syntax error: "), "{error}");
    let error =
        load(&[("main.ts", "let a: number = 1;\nlet a: string = '';\nexport default a;")]).err().unwrap().to_string();
    assert!(
        error.contains("/main.ts:1:5: syntax error: ") || error.contains("/main.ts:2:5: syntax error: "),
        "{error}"
    );
}

#[test]
fn javascript_is_not_read_as_typescript() {
    let error = load(&[("main.js", "export const a: number = 1;")]).err().unwrap().to_string();
    assert!(error.contains("/main.js:1:15: syntax error: "), "{error}");
}
