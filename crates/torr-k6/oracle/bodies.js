// Contents of all kinds, and what becomes of them.
import http from 'k6/http';

export default function () {
  const url = `${__ENV.BASE}/echo`;
  http.post(url, { b: 2, a: 'x y', list: [1, 2], sign: '&=%+ä' });
  http.post(url, JSON.stringify({ a: 1 }), { headers: { 'Content-Type': 'application/json' } });
  http.post(url, { a: 1 }, { headers: { 'Content-Type': 'application/json' } });
  http.post(url, new Uint8Array([0, 255, 10]).buffer);
  http.post(url, new Uint8Array([1, 2, 3]));
  http.post(url, null);
  http.post(url, '');
  http.post(url, 'ä€😀');
}
