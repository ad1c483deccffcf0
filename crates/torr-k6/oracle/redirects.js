// Redirects are followed, up to a limit.
import http from 'k6/http';

export const options = { vus: 1, iterations: 1, thresholds: { http_reqs: ['count==14'] } };

export default function () {
  const followed = http.get(`${__ENV.BASE}/redirect/2`);
  console.log(followed.status, followed.url.slice(__ENV.BASE.length), followed.request.url.slice(__ENV.BASE.length));
  const stopped = http.get(`${__ENV.BASE}/redirect/2`, { redirects: 0 });
  console.log(stopped.status, stopped.headers.Location);
  const limited = http.get(`${__ENV.BASE}/redirect/3`, { redirects: 1 });
  console.log(limited.status);
  console.log(http.post(`${__ENV.BASE}/redirect/1`, 'text').status);
  console.log(http.post(`${__ENV.BASE}/redirect307`, 'text').status);
  console.log(http.put(`${__ENV.BASE}/redirect/1`, 'text', { headers: { Authorization: 'a' } }).status);
  console.log(http.head(`${__ENV.BASE}/redirect/1`).status);
}
