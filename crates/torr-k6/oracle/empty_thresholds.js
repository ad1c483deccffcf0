// Thresholds on what has no samples, and selectors that match nothing.
import http from 'k6/http';
import { check, group } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

new Counter('no_count');
new Gauge('no_value');
new Rate('no_rate');
new Trend('no_trend');

export const options = {
  iterations: 2,
  thresholds: {
    no_count: ['count==0', 'count>0'],
    no_value: ['value==0', 'value>0'],
    no_rate: ['rate>0.99', 'rate<0.01'],
    no_trend: ['p(95)<500', 'avg>1', 'max==0'],
    checks: ['rate>0.99'],
    'http_reqs{group:login}': ['count>0'],
    'http_reqs{group:::login}': ['count==2'],
    'http_req_duration{group:login}': ['p(95)<500'],
    'http_req_failed{group:login}': ['rate<0.01'],
    'http_reqs{nowhere:1}': ['count==0'],
    [`http_reqs{url:${__ENV.BASE}/text?id=1}`]: ['count==0'],
    'http_reqs{url:item}': ['count==2'],
    'http_reqs{ method : "GET" , status:200}': ['count==2'],
    dropped_iterations: ['count<1'],
  },
};

export default function () {
  group('login', () => http.get(`${__ENV.BASE}/text?id=1`, { tags: { name: 'item' } }));
  JSON.parse('no JSON');
  check(1, { never: true });
}
