// Methods, paths, queries and field lines as they are sent.
import http from 'k6/http';

export default function () {
  const base = __ENV.BASE;
  const headers = { 'x-odd': 1, accept: '*/*', b: true, Zz: [1, 2] };
  const sent = http.request('fooBar', `${base}/a/../b/./c?q=[1]{}|"<>\\^\`&e=%20`, 'content', { headers });
  console.log(sent.url.replace(base, ''), sent.request.url.replace(base, ''), sent.request.method);
  console.log(JSON.stringify(Object.keys(sent.request.headers).sort()));
  http.request('get', `${base}/text`);
  http.request('', `${base}/text`);
  http.get(`${base}/x y/{1}!`);
  http.get(`${base}?only=query`);
  http.del(`${base}/text`, '');
  const secret = http.get(base.replace('://', '://u:p%40@') + '/echo', { headers: { Accept: 'a', Zz: 'z' } });
  console.log(secret.json('headers.Authorization'), JSON.stringify(Object.keys(secret.request.headers).sort()));
  const host = http.get(`${base}/text#fragment`, { headers: { Host: 'h.test' } });
  console.log(host.url.replace(base, ''), JSON.stringify(host.request.headers.Host));
  const own = http.post(`${base}/text`, 'aaaa', { cookies: { q: 'a b;c"' } });
  console.log(own.request.body, JSON.stringify(own.request.cookies));
}
