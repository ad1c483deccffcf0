// Base64 in its four alphabets.
import encoding, { b64decode, b64encode } from 'k6/encoding';

export default function () {
  const text = 'a?>ä€';
  for (const form of ['std', 'rawstd', 'url', 'rawurl']) {
    const encoded = b64encode(text, form);
    console.log(form, encoded, b64decode(encoded, form, 's') === text);
  }
  console.log(b64encode(text), encoding.b64encode(new Uint8Array([1, 2, 255]).buffer));
  console.log(new Uint8Array(b64decode('AQL/')).join());
}
