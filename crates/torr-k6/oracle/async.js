// Promises, requests among them.
import http from 'k6/http';

export default async function () {
  const base = __ENV.BASE;
  const all = await Promise.all([http.asyncRequest('GET', `${base}/text?n=1`), http.asyncRequest('GET', `${base}/json`)]);
  console.log(all.map((r) => r.status).join());
  const posted = await http.asyncRequest('POST', `${base}/echo`, 'text');
  console.log(posted.json('method'));
  Promise.resolve('later').then((text) => console.log(text));
  console.log('first');
}
