// Requests that are made and cannot be sent, which count.
import http from 'k6/http';

const shown = (r) => JSON.stringify([r.status, r.url, r.error, r.error_code, r.request.method, r.body]);

export default function () {
  for (const url of ['', 'x', '//x/y', 'ftp://a/', 'localhost:8080/', 'http://', 'http:x']) {
    console.log(shown(http.get(url)));
  }
  const url = `${__ENV.BASE}/text`;
  const error = (headers) => http.get(url, { headers }).error;
  console.log(error({ 'a b': 1 }), error({ a: 'b\nc' }));
  console.log(http.request('a b', url).error);
  const [refused, sent] = http.batch(['x', url]);
  console.log(refused.error_code, sent.status);
  http.get(url, null, { headers: { A: 'not sent' } });
  http.post(url, 'ab', { headers: { 'content-length': '7' } });
}
