//! The global `crypto`, against vectors of the standards.

use crate::script::{expression, thrown};

const TOOLS: &str = "const hex = (buffer) => Array.from(new Uint8Array(buffer)).map((one) => one.toString(16).padStart(2, '0')).join('');
const bin = (text) => new Uint8Array((text.match(/../g) || []).map((one) => parseInt(one, 16)));
const text = (text) => new TextEncoder().encode(text);
const s = crypto.subtle;
const aes = (name, key) => s.importKey('raw', bin(key), name, true, ['encrypt', 'decrypt']);";

#[test]
fn operations_match_their_standards() {
    let cases = [
        (
            "hex(await s.digest('SHA-256', text('abc')))",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ),
        ("hex(await s.digest({ name: 'sha-1' }, text('abc').buffer))", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        // NIST SP 800-38A, F.2.1, F.5.1; the padding block follows the first.
        (
            "hex(await s.encrypt({ name: 'AES-CBC', iv: bin('000102030405060708090a0b0c0d0e0f') }, await aes('AES-CBC', '2b7e151628aed2a6abf7158809cf4f3c'), bin('6bc1bee22e409f96e93d7e117393172a'))).slice(0, 32)",
            "7649abac8119b246cee98e9b12e9197d",
        ),
        (
            "hex(await s.encrypt({ name: 'AES-CTR', counter: bin('f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff'), length: 64 }, await aes('AES-CTR', '2b7e151628aed2a6abf7158809cf4f3c'), bin('6bc1bee22e409f96e93d7e117393172a')))",
            "874d6191b620e3261bef6864990db6ce",
        ),
        // The GCM specification, test case 4.
        (
            "hex(await s.encrypt({ name: 'AES-GCM', iv: bin('cafebabefacedbaddecaf888'), additionalData: bin('feedfacedeadbeeffeedfacedeadbeefabaddad2') }, await aes('AES-GCM', 'feffe9928665731c6d6a8f9467308308'), bin('d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39')))",
            "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e0915bc94fbc3221a5db94fae95ae7121a47",
        ),
        // RFC 4231, test case 2.
        (
            "hex(await s.sign('HMAC', await s.importKey('raw', text('Jefe'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']), text('what do ya want for nothing?')))",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        ),
        // RFC 6070, two rounds.
        (
            "hex(await s.deriveBits({ name: 'PBKDF2', hash: 'SHA-1', salt: text('salt'), iterations: 2 }, await s.importKey('raw', text('password'), 'PBKDF2', false, ['deriveBits']), 160))",
            "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957",
        ),
        // RFC 5869, test case 1.
        (
            "hex(await s.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: bin('000102030405060708090a0b0c'), info: bin('f0f1f2f3f4f5f6f7f8f9') }, await s.importKey('raw', bin('0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b'), 'HKDF', false, ['deriveBits']), 336))",
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
        ),
    ];
    for (source, expected) in cases {
        assert_eq!(expression(TOOLS, source), format!("\"{expected}\""), "{source}");
    }
}

#[test]
fn keys_round_trip() {
    let cases = [
        ("(async () => { const key = await s.generateKey({ name: 'AES-CBC', length: 256 }, true, ['decrypt', 'encrypt']);
            const jwk = await s.exportKey('jwk', key); const again = await s.importKey('jwk', jwk, 'AES-CBC', false, ['decrypt']);
            const iv = crypto.getRandomValues(new Uint8Array(16));
            const coded = await s.encrypt({ name: 'AES-CBC', iv }, key, text('hello'));
            return [jwk.kty, jwk.alg, jwk.ext, jwk.key_ops, key.type, key.algorithm, key.extractable, key.usages, again.extractable,
                key instanceof crypto.CryptoKey, new TextDecoder().decode(await s.decrypt({ name: 'AES-CBC', iv }, again, coded))] })()",
         r#"["oct","A256CBC",true,["encrypt","decrypt"],"secret",{"name":"AES-CBC","length":256},true,["encrypt","decrypt"],false,true,"hello"]"#),
        ("(async () => { const key = await s.generateKey({ name: 'HMAC', hash: { name: 'SHA-512' } }, true, ['sign', 'verify']);
            const signature = await s.sign('HMAC', key, text('x'));
            return [key.algorithm, (await s.exportKey('raw', key)).byteLength, (await s.exportKey('jwk', key)).alg,
                await s.verify('HMAC', key, signature, text('x')), await s.verify('HMAC', key, signature, text('y'))] })()",
         r#"[{"name":"HMAC","length":1024,"hash":{"name":"SHA-512"}},128,"HS512",true,false]"#),
        ("(async () => { const base = await s.importKey('raw', text('password'), 'PBKDF2', false, ['deriveKey']);
            const key = await s.deriveKey({ name: 'PBKDF2', hash: 'SHA-256', salt: text('s'), iterations: 10 }, base, { name: 'AES-GCM', length: 128 }, true, ['encrypt']);
            return (await s.exportKey('raw', key)).byteLength })()", "16"),
        ("[crypto.getRandomValues(new Uint32Array(4)).length, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())]",
         "[4,true]"),
        ("(() => { const some = new Uint8Array(64); const view = some.subarray(16, 48); crypto.getRandomValues(view); return [some.slice(0, 16).every((one) => one === 0), view.some((one) => one !== 0)] })()",
         "[true,true]"),
    ];
    for (source, expected) in cases {
        assert_eq!(expression(TOOLS, &format!("await {source}")), expected, "{source}");
    }
    let module = "import { crypto as own } from 'k6/experimental/webcrypto';";
    assert_eq!(expression(module, "typeof own.subtle.digest"), "\"function\"");
}

#[test]
fn what_cannot_be_done_is_refused_by_name() {
    let cases = [
        ("await s.digest('MD5', text('a'))", "NotSupportedError: algorithm \"MD5\" is not supported for \"digest\""),
        ("await s.digest('SHA-1', 'abc')", "TypeError: 'data' must be an ArrayBuffer or a view of one"),
        ("await s.digest('SHA-1')", "TypeError: "),
        (
            "await s.generateKey({ name: 'RSA-OAEP' }, true, ['encrypt'])",
            "NotSupportedError: algorithm \"RSA-OAEP\" is not supported",
        ),
        ("await s.generateKey({ name: 'AES-CBC', length: 12 }, true, ['encrypt'])", "OperationError: an AES key has"),
        ("await s.importKey('raw', new Uint8Array(5), 'AES-CBC', true, ['encrypt'])", "DataError: an AES key has"),
        (
            "await s.importKey('raw', new Uint8Array(16), 'AES-CBC', true, ['sign'])",
            "SyntaxError: AES-CBC keys have no usage \"sign\"",
        ),
        (
            "await s.importKey('spki', new Uint8Array(16), 'AES-CBC', true, ['sign'])",
            "NotSupportedError: algorithm \"AES-CBC\" is not supported for \"importKey of the format spki\"",
        ),
        (
            "await s.encrypt({ name: 'AES-CBC', iv: new Uint8Array(3) }, await aes('AES-CBC', '2b7e151628aed2a6abf7158809cf4f3c'), text('a'))",
            "OperationError: the initialisation vector must have 16 bytes",
        ),
        (
            "await s.decrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, await aes('AES-GCM', '2b7e151628aed2a6abf7158809cf4f3c'), new Uint8Array(20))",
            "OperationError: decryption failed",
        ),
        (
            "await s.encrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, await aes('AES-CBC', '2b7e151628aed2a6abf7158809cf4f3c'), text('a'))",
            "InvalidAccessError: the key is one for AES-CBC, not for AES-GCM",
        ),
        (
            "await s.exportKey('raw', await s.importKey('raw', new Uint8Array(16), 'AES-CBC', false, ['encrypt']))",
            "InvalidAccessError: the key is not extractable",
        ),
        ("await s.exportKey('raw', {})", "TypeError: the key must be a CryptoKey"),
        ("await s.wrapKey('raw', 1, 2, 3)", "NotSupportedError: wrapKey is not supported"),
        ("crypto.getRandomValues(new Uint8Array(70000))", "QuotaExceededError: "),
        ("crypto.getRandomValues(new Float32Array(3))", "TypeMismatchError: "),
        ("new crypto.CryptoKey()", "TypeError: illegal constructor"),
    ];
    for (source, expected) in cases {
        let error = thrown(TOOLS, source);
        assert!(error.starts_with(expected), "{source}: {error}");
    }
}
