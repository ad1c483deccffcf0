// Requests that are sent at the same time, as an array and as an object.
import http from 'k6/http';
import { check } from 'k6';

export default function () {
  const base = __ENV.BASE;
  const list = http.batch([
    ['GET', `${base}/text?n=1`, null, { tags: { kind: 'a' } }],
    ['POST', `${base}/echo`, { a: 1 }],
    { method: 'PUT', url: `${base}/echo`, body: 'text', params: { headers: { 'X-Put': '1' } } },
    `${base}/text?n=4`,
  ]);
  check(list, { four: (r) => r.length === 4 && r.every((one) => one.status === 200) });
  const named = http.batch({ front: `${base}/text?n=5`, api: { method: 'GET', url: `${base}/json` } });
  console.log(Object.keys(named).sort(), named.front.body, named.api.json('b.c'));
}
