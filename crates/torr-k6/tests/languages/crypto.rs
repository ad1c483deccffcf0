//! `k6/crypto`.

use crate::script::{expression, thrown};

const IMPORT: &str = "import crypto, { sha256, hmac, createHash, createHMAC, randomBytes, hexEncode } from 'k6/crypto';
const list = (buffer) => Array.from(new Uint8Array(buffer));";

#[test]
fn hashes_are_those_of_their_standards() {
    let cases = [
        ("md4", "a448017aaf21d8525fc10ae87aa6729d"),
        ("md5", "900150983cd24fb0d6963f7d28e17f72"),
        ("sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ("sha512_224", "4634270f707b6a54daae7530460842e20e37ed265ceee9a43e8924aa"),
        ("sha512_256", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
        ("ripemd160", "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"),
        ("sha384", "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"),
    ];
    for (name, expected) in cases {
        assert_eq!(expression(IMPORT, &format!("crypto.{name}('abc', 'hex')")), format!("\"{expected}\""));
        assert_eq!(
            expression(
                IMPORT,
                &format!(
                    "(() => {{ const h = createHash('{name}'); h.update('a'); h.update(new Uint8Array([98, 99])); return h.digest('hex') }})()"
                )
            ),
            format!("\"{expected}\"")
        );
    }
}

#[test]
fn keyed_hashes_and_encodings() {
    let cases = [
        ("hmac('md4', 'k', 'd', 'hex')", "\"de693e9b565099e8fe8129b3833a702d\""),
        ("hmac('ripemd160', 'k', 'd', 'base64')", "\"JeH8hjEuU1bbQKRV4qfP+lD7Ifo=\""),
        (
            "(() => { const h = createHMAC('sha1', 'k'); h.update('a'); return h.digest('base64url') })()",
            "\"QOfUQcrbF7B_BQNBqiOmgg7YHIs=\"",
        ),
        ("crypto.md5('a', 'base64rawurl')", "\"DMF1ucDxtqgxw5niaXcmYQ\""),
        ("list(sha256('a', 'binary')).slice(0, 3)", "[202,151,129]"),
        (
            "(() => { const h = createHash('sha1'); h.update('a'); const first = h.digest('hex'); h.update('b'); return [first, h.digest('hex')] })()",
            "[\"86f7e437faa5a7fce15d1ddcb9eaeaea377667b8\",\"da23614e02469a0d7c7bd1bdab5c9c474b1904dc\"]",
        ),
        ("hexEncode(new Uint8Array([1, 255]).buffer)", "\"01ff\""),
        ("randomBytes(3).byteLength", "3"),
        ("hmac('sha512', 'k'.repeat(200), 'd', 'hex').length", "128"),
    ];
    for (source, expected) in cases {
        assert_eq!(expression(IMPORT, source), expected, "{source}");
    }
}

#[test]
fn mistakes_are_named() {
    let cases = [
        ("crypto.md5('a', 'zzz')", "GoError: invalid output encoding: zzz"),
        ("crypto.md5('a')", "GoError: invalid output encoding: "),
        ("crypto.md5(null, 'hex')", "GoError: md5 failed: invalid type <nil>, expected string, []byte or ArrayBuffer"),
        ("hmac('zzz', 'k', 'd', 'hex')", "GoError: invalid algorithm: zzz"),
        ("createHash('zzz')", "GoError: invalid algorithm: zzz"),
        ("randomBytes(0)", "GoError: invalid size"),
        ("randomBytes(1e300)", "GoError: invalid size"),
    ];
    for (source, expected) in cases {
        assert_eq!(thrown(IMPORT, source), expected, "{source}");
    }
}
