// Cookies are kept within an iteration, and may be given for one request.
import http from 'k6/http';

export const options = { vus: 1, iterations: 2 };

export default function () {
  const r = http.get(`${__ENV.BASE}/cookies/set`);
  console.log(r.cookies.session[0].value, r.cookies.session[0].path, r.cookies.session[0].http_only, Object.keys(r.cookies).sort());
  http.get(`${__ENV.BASE}/echo`);
  http.get(`${__ENV.BASE}/echo`, { cookies: { more: 'yes', session: 'own' } });
  http.get(`${__ENV.BASE}/echo`, { cookies: { session: { value: 'own', replace: true } } });
  http.get(`${__ENV.BASE}/echo`);
}
