// Users come and go by stages, every tenth response is slow, and three thresholds fail.
import http from 'k6/http';
import { check } from 'k6';
import exec from 'k6/execution';
import { Counter, Rate } from 'k6/metrics';

const astray = new Counter('astray');
const counted = new Rate('counted');

export const options = {
  stages: [{ duration: '2s', target: 4 }, { duration: '1s', target: 4 }, { duration: '2s', target: 0 }],
  thresholds: {
    'http_req_duration{name:page}': ['p(95)<100', 'p(50)<300', 'max>=300'],
    http_req_failed: ['rate<0.01'],
    checks: [{ threshold: 'rate>0.99' }],
    astray: ['count==0'],
    counted: ['rate==1'],
  },
};

let sent = 0;

// The number of users after so many seconds. A user that is not wanted any more ends its iteration first.
const planned = (s) => 1 + (s < 2 ? (3 * s) / 2 : s < 3 ? 3 : 3 - (4 * (s - 3)) / 2);

export default function () {
  sent += 1;
  const before = planned(exec.instance.currentTestRunDuration / 1000);
  const active = exec.instance.vusActive;
  counted.add(active >= 1 && active <= 4);
  astray.add(Math.abs(active - before) > 2 ? 1 : 0);
  const response = http.get(`${__ENV.BASE}/delay/${sent % 10 === 5 ? 300 : 20}`, { tags: { name: 'page' } });
  check(response, { 'in time': (r) => r.timings.duration < 200 });
  http.get(`${__ENV.BASE}/status/${sent % 10 === 7 ? 500 : 200}`);
}
