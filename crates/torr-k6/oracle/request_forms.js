// Contents and parameters of requests in all their forms. Codings and digest authentication have scripts of their own.
import http from 'k6/http';

const base = __ENV.BASE;
const shown = (r) => JSON.stringify([r.status, r.body instanceof ArrayBuffer ? r.body.byteLength : r.body, r.error, r.error_code]);

export default function () {
  const url = `${base}/echo`;
  for (const method of ['post', 'put', 'patch', 'del', 'options']) {
    http[method](url, { method, list: ['a', 1, true], none: null, deep: { a: { b: [1, 'x'] } }, gap: undefined, 'k&=': '+ %' });
  }
  http.post(url, { f: http.file(new Uint8Array([0, 1, 254]).buffer, 'b.bin') });
  http.post(url, { f: http.file('text', 'ä "q".txt', 'text/x') }, { headers: { 'Content-Type': 'text/own' } });
  http.post(url, new Uint8Array([1, 2, 3, 4]).subarray(1, 3));
  http.post(url, JSON.stringify({ a: [1] }), { headers: { 'content-TYPE': 'application/json', 'x-ODD-name': [1, 2], 'x-object': { a: 1 } } });
  http.del(url, { headers: { Wrong: 'place' } });
  http.get(http.url`${base}/text?a=${'b-c'}&d=${1}`);
  http.get(url, { headers: { 'If-None-Match': '"x"', Cookie: 'a=1' }, cookies: { b: '2' } });

  console.log(shown(http.get(`${base}/delay/3000`, { timeout: 60 })));
  console.log(shown(http.get(`${base}/delay/3000`, { timeout: '80ms' })));
  console.log(shown(http.get(`${base}/delay/1`, { timeout: '1m0.5s' })));
  const moved = http.get(`${base}/redirect/2`, { redirects: 0 });
  console.log(moved.status, moved.headers.Location, moved.url === `${base}/redirect/2`);
  const around = http.get(`${base}/around`);
  console.log(around.status, around.error, around.headers.Location, around.request.url === around.url);
  for (const status of [204, 304, 205, 404]) {
    console.log(shown(http.get(`${base}/status/${status}`)), shown(http.get(`${base}/status/${status}`, { responseType: 'binary' })));
  }
  console.log(shown(http.get(`${base}/bytes`, { responseType: 'binary' })), shown(http.get(`${base}/bytes`, { responseType: 'none' })));
  console.log(http.get(`${base}/bytes`).body.length, http.get(`${base}/reason`).status_text);
}
