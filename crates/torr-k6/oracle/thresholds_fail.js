// Thresholds that fail make the exit code 99.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  vus: 1,
  iterations: 4,
  thresholds: {
    http_req_failed: ['rate<0.1'],
    checks: ['rate>0.9'],
    http_req_duration: ['p(95)<60000', 'avg>=0'],
    'http_req_duration{name:none}': ['p(95)<1'],
    http_reqs: [{ threshold: 'count<2' }],
  },
};

export default function () {
  check(http.get(`${__ENV.BASE}/status/${__ITER % 2 === 0 ? 200 : 500}`), { ok: (r) => r.status === 200 });
}
