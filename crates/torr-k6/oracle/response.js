// What a response holds.
import http from 'k6/http';

export default function () {
  const r = http.get(`${__ENV.BASE}/json`);
  console.log(r.status, r.status_text, r.proto, r.url === `${__ENV.BASE}/json`, r.error, r.error_code);
  console.log(r.remote_ip, typeof r.remote_port, r.tls_version, r.tls_cipher_suite, r.body);
  console.log(Object.keys(r.json()).sort(), r.json('b.c'), JSON.stringify(r.json('list')), r.json('list.1'), r.json('none'));
  console.log(r.json('list.#'), r.json('items.#.id'), r.json('items.#(id==2).name'), typeof r.json);
  console.log(Object.keys(r.timings).sort().join());
  console.log(r.timings.duration >= 0, r.timings.looking_up);
  const missing = http.get(`${__ENV.BASE}/status/404`);
  console.log(missing.status, missing.status_text, missing.error_code, missing.error);
  const none = http.get(`${__ENV.BASE}/status/204`);
  console.log(none.status, none.body);
  const binary = http.get(`${__ENV.BASE}/bytes`, { responseType: 'binary' });
  console.log(binary.body.byteLength, new Uint8Array(binary.body)[3], Object.prototype.toString.call(binary.body));
  const dropped = http.get(`${__ENV.BASE}/text`, { responseType: 'none' });
  console.log(dropped.body);
  const gzip = http.get(`${__ENV.BASE}/gzip`);
  console.log(gzip.body, gzip.headers['Content-Encoding']);
  try {
    http.get(`${__ENV.BASE}/text`).json();
  } catch (error) {
    console.log('json failed', error instanceof Error);
  }
}
