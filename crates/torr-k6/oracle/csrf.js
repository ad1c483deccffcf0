// A login by a form with a hidden field, and cookies of all origins.
import http from 'k6/http';
import { check } from 'k6';

export const options = { vus: 1, iterations: 2 };

const cookies = (r) => r.json('headers.Cookie');
const sorted = (found) => JSON.stringify(Object.entries(found).sort());

/// The cookies of setup are its own.
export function setup() {
  http.get(`${__ENV.BASE}/login`);
  console.log(cookies(http.get(`${__ENV.BASE}/echo`)));
}

export default function () {
  const base = __ENV.BASE;
  console.log('at first', cookies(http.get(`${base}/echo`)), sorted(http.cookieJar().cookiesForURL(base)));
  const page = http.get(`${base}/html`);
  const token = page.html().find('input[name=token]').attr('value');
  console.log(token, page.html('form').attr('action'), page.html().find('input[name=missing]').attr('value'));
  http.post(`${base}/echo`, { user: 'ann', token });
  const sent = page.submitForm({ formSelector: 'form', fields: { user: 'bob', extra: '1' }, params: { headers: { 'X-Form': 'yes' } } });
  check(sent, { posted: (r) => r.json('method') === 'POST' });
  const login = http.post(`${base}/login`, { user: 'ann' });
  console.log(login.status, login.url.replace(base, ''), sorted(login.cookies), cookies(login));
  console.log(cookies(http.get(`${base}/echo`)), cookies(http.get(`${base}/echo/below`)));
  console.log(cookies(http.get(`${base}/echo`, { cookies: { session: 'mine', more: 'yes' } })).split('; ').sort().join());
  console.log(cookies(http.get(`${base}/echo`, { cookies: { session: { value: 'mine', replace: true } } })));
  const jar = http.cookieJar();
  jar.set(base, 'own', 'é,;x', { path: '/', secure: false, max_age: 60 });
  jar.set(base, 'secure', '1', { secure: true });
  jar.set(base, 'past', '1', { expires: 'Mon, 02 Jan 2006 15:04:05 MST' });
  jar.set(base, 'session', null);
  console.log(sorted(jar.cookiesForURL(`${base}/echo`)), cookies(http.get(`${base}/echo`)));
  const other = new http.CookieJar();
  other.set(base, 'other', 1);
  console.log(cookies(http.get(`${base}/echo`, { jar: other, cookies: { p: 'q' } })));
  console.log(cookies(http.get(`${base}/echo`, { jar: other, headers: { Cookie: 'h=1' } })));
  jar.clear(base);
  console.log(cookies(http.get(`${base}/echo`)), sorted(http.get(`${base}/login`, { redirects: 0 }).cookies));
}
