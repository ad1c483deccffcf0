// Requests that fail in all ways: what the response and the log say, and what ends an iteration.
import http from 'k6/http';
import { check } from 'k6';
import { Counter } from 'k6/metrics';

const ends = new Counter('ends');

export const options = {
  scenarios: { fails: { executor: 'per-vu-iterations', vus: 1, iterations: 2 } },
  thresholds: {
    'http_req_failed{name:refused}': ['rate==1'],
    'http_reqs{error_code:1212}': ['count==4'],
    'http_reqs{error_code:1050}': ['count==2'],
    'http_reqs{error_code:1101}': ['count==2'],
    'http_reqs{error_code:1310}': ['count==2'],
    'http_reqs{error_code:1404}': ['count==2'],
    'http_reqs{expected_response:false,status:0}': ['count>0'],
    'http_reqs{tls_version:tls1.3}': ['count==0'],
    'checks{check:json}': ['rate==0'],
    ends: ['count==0'],
    iterations: ['count==2'],
  },
};

const shown = (r) => JSON.stringify([r.status, r.status_text, r.body, r.error, r.error_code, Object.keys(r.headers), Object.keys(r.cookies)]);

export default function () {
  const refused = http.get('http://127.0.0.1:1/', { tags: { name: 'refused' } });
  console.log(shown(refused), refused.url, refused.proto, refused.remote_ip, refused.remote_port, refused.timings.waiting);
  console.log(shown(http.get('http://no.such.host.invalid/')));
  console.log(shown(http.get(`${__ENV.SECURE}/`)));
  console.log(shown(http.get(`${__ENV.BASE}/delay/4000`, { timeout: 100 })));
  console.log(shown(http.get(`${__ENV.BASE}/close`)));
  console.log(shown(http.get('http://[::1')), shown(http.get('ftp://x/')), shown(http.get('')));
  console.log(shown(http.get(`${__ENV.BASE}/status/404`)));
  for (const call of [
    () => http.get('http://127.0.0.1:1/', { throw: true }),
    () => refused.json(),
    () => refused.html(),
    () => http.get(`${__ENV.BASE}/text`).json(),
    () => http.get(`${__ENV.BASE}/text`, { responseType: 'none' }).json(),
    () => http.get(`${__ENV.BASE}/status/204`).json(),
  ]) {
    try {
      console.log('no error', call());
    } catch (error) {
      console.log(error.name, error.message.includes('connection refused') || error.message.split(' , error')[0]);
    }
  }
  check(refused, { before: true, json: (r) => r.json('a') === 1, after: true });
  ends.add(1);
}
