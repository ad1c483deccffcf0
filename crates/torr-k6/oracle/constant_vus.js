// Virtual users loop until the time is over.
import http from 'k6/http';
import { sleep } from 'k6';

export const options = { vus: 2, duration: '2s', thresholds: { iterations: ['count>=8', 'count<=44'] } };

export default function () {
  http.get(`${__ENV.BASE}/text`);
  sleep(0.1);
}
