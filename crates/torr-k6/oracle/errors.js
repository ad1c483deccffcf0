// Requests that fail.
import http from 'k6/http';
import { check } from 'k6';

export const options = { vus: 1, iterations: 1, thresholds: { http_req_failed: ['rate==1'] } };

export default function () {
  const refused = http.get('http://127.0.0.1:1/');
  console.log(refused.status, refused.body, refused.error_code, refused.error);
  const slow = http.get(`${__ENV.BASE}/delay/5000`, { timeout: 200 });
  console.log(slow.status, slow.error_code, slow.error);
  const closed = http.get(`${__ENV.BASE}/close`);
  console.log(closed.status, closed.error_code !== 0);
  const url = http.get('nonsense://x/');
  console.log(url.status, url.error_code !== 0);
  try {
    http.get('http://127.0.0.1:1/', { throw: true });
  } catch (error) {
    console.log('thrown', `${error}`.includes('connection refused'));
  }
  check(refused, { json: (r) => r.json().a === 1 });
  console.log('not reached');
}
