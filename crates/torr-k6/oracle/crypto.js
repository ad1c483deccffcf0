// Digests and signatures.
import crypto, { createHMAC, createHash, hmac, sha256 } from 'k6/crypto';

export default function () {
  for (const name of ['md4', 'md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160']) {
    console.log(name, crypto[name]('text', 'hex'));
  }
  console.log(sha256('text', 'base64'), sha256('text', 'base64url'), sha256('text', 'base64rawurl'));
  console.log(new Uint8Array(sha256('text', 'binary')).length);
  console.log(hmac('sha256', 'key', 'text', 'hex'), hmac('md5', 'key', 'text', 'base64'));
  const hash = createHash('sha1');
  hash.update('a');
  hash.update('b');
  console.log(hash.digest('hex'), crypto.sha1('ab', 'hex'));
  const signature = createHMAC('sha512', 'key');
  signature.update('text');
  console.log(signature.digest('base64'));
  console.log(crypto.randomBytes(8).byteLength, crypto.hexEncode(new Uint8Array([1, 171]).buffer));
}
