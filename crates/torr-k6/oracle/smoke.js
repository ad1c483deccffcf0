// Virtual users for a time: one request, three checks of which one always fails, and a pause.
import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = { vus: 2, duration: '2s' };

export default function () {
  const response = http.get(`${__ENV.BASE}/text`);
  check(response, {
    'status is 200': (r) => r.status === 200,
    'has a body': (r) => r.body.length > 0,
    'status is 201': (r) => r.status === 201,
  });
  sleep(0.1);
}
