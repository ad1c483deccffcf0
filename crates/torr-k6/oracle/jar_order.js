// Cookies that a server sets, and the order in which they are sent.
import http from 'k6/http';

export default function () {
  const url = `${__ENV.BASE}/cookies/many`;
  const found = http.get(url).cookies;
  const names = Object.keys(found).sort();
  console.log(JSON.stringify(names.map((name) => found[name].map((one) => [one.name, one.value, one.domain, one.path]))));
  console.log(JSON.stringify(names.map((name) => found[name].map((one) => [one.max_age, one.expires, one.secure]))));
  http.get(`${__ENV.BASE}/cookies/many/below`);
  http.get(`${__ENV.BASE}/text`, { headers: { Cookie: 'given=1' } });
  const jar = http.cookieJar();
  const kept = () => Object.entries(jar.cookiesForURL(`${__ENV.BASE}/cookies/many`)).sort();
  console.log(JSON.stringify(kept()));
  jar.delete(url, 'near');
  jar.set(url, 'late', 5, { path: '/', max_age: 100 });
  jar.set(url, 'gone', 1, { max_age: -1 });
  console.log(JSON.stringify(kept()));
  http.get(url);
  jar.clear(__ENV.BASE);
  console.log(JSON.stringify(kept()));
}
