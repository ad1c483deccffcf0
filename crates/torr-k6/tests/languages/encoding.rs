//! `k6/encoding`.

use crate::script::{expression, thrown};

const IMPORT: &str = "import encoding, { b64encode, b64decode } from 'k6/encoding';
const list = (buffer) => Array.from(new Uint8Array(buffer));";

#[test]
fn base64_has_four_variants() {
    let cases = [
        ("b64encode('hello')", "\"aGVsbG8=\""),
        ("b64encode('hello', 'rawstd')", "\"aGVsbG8\""),
        ("b64encode(new Uint8Array([251, 255]), 'url')", "\"-_8=\""),
        ("b64encode(new Uint8Array([1, 2, 250]).buffer, 'rawurl')", "\"AQL6\""),
        ("b64encode(new Uint8Array([9, 1, 2, 9]).subarray(1, 3))", "\"AQI=\""),
        ("b64encode('hello', 'zzz')", "\"aGVsbG8=\""),
        ("encoding.b64encode('ü')", "\"w7w=\""),
        ("list(b64decode('aGVsbG8='))", "[104,101,108,108,111]"),
        ("list(b64decode('aGVsbG8=', 'std', 'x'))", "[104,101,108,108,111]"),
        ("b64decode('aGVsbG8=', 'std', 's')", "\"hello\""),
        ("b64decode('aGVs\\nbG8=', 'std', 's')", "\"hello\""),
        ("b64decode('-_8', 'rawurl').byteLength", "2"),
    ];
    for (source, expected) in cases {
        assert_eq!(expression(IMPORT, source), expected, "{source}");
    }
}

#[test]
fn bad_base64_throws() {
    let cases = [
        ("b64decode('aGVsbG8$', 'std', 's')", "GoError: illegal base64 data at input byte 7"),
        ("b64decode('aGVsbG8', 'std', 's')", "GoError: illegal base64 data at input byte 4"),
        ("b64encode(12)", "GoError: invalid type int64, expected string, []byte or ArrayBuffer"),
        ("b64encode()", "GoError: invalid type <nil>, expected string, []byte or ArrayBuffer"),
    ];
    for (source, expected) in cases {
        assert_eq!(thrown(IMPORT, source), expected, "{source}");
    }
}
