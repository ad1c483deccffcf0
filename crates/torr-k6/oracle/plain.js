// One request and three checks, one of which fails.
import http from 'k6/http';
import { check } from 'k6';

export const options = { vus: 1, iterations: 3 };

export default function () {
  const response = http.get(`${__ENV.BASE}/text`);
  check(response, {
    'status is 200': (r) => r.status === 200,
    'has a body': (r) => r.body.length > 0,
    'status is 201': (r) => r.status === 201,
  });
}
