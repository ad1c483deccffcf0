// The Web Crypto API.
const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');

export default async function () {
  const text = new Uint8Array([116, 101, 120, 116]);
  console.log(hex(await crypto.subtle.digest('SHA-256', text)));
  const key = await crypto.subtle.importKey('raw', new Uint8Array([107, 101, 121]), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
  const signature = await crypto.subtle.sign('HMAC', key, text);
  console.log(hex(signature), await crypto.subtle.verify('HMAC', key, signature, text));
  console.log(crypto.getRandomValues(new Uint8Array(4)).length, crypto.randomUUID().length);
}
