// The jar of a virtual user, and one of the script's own.
import http from 'k6/http';

export default function () {
  const url = `${__ENV.BASE}/echo`;
  const jar = http.cookieJar();
  jar.set(url, 'a', '1');
  jar.set(url, 'b', '2', { path: '/other' });
  http.get(url);
  console.log(JSON.stringify(Object.entries(jar.cookiesForURL(url)).sort()));
  jar.delete(url, 'a');
  http.get(url);
  const own = new http.CookieJar();
  own.set(url, 'c', '3');
  http.get(url, { jar: own });
  jar.clear(url);
  http.get(url);
}
