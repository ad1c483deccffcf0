// A login in setup, whose token all iterations use, and a logout.
import http from 'k6/http';
import { check, group, sleep } from 'k6';

export const options = {
  scenarios: { shop: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } },
  thresholds: {
    'http_reqs{group:::setup}': ['count==1'],
    'http_reqs{group:::teardown}': ['count==1'],
    'http_reqs{group:::account}': ['count==4'],
    'http_reqs{scenario:shop}': ['count==4'],
    http_reqs: ['count==6', 'rate<9'],
    'checks{group:::setup}': ['rate==1'],
  },
};

export function setup() {
  const response = http.post(`${__ENV.BASE}/echo`, { user: 'ann', password: 'päss word' });
  check(response, { 'logged in': (r) => r.status === 200 });
  sleep(0.7);
  return { token: response.json('body'), when: new Date(0), deep: { list: [1, [2]], text: 'ä€😀' }, visits: 0 };
}

export default function (data) {
  data.visits += 1;
  data.deep.text += __ITER;
  group('account', () => http.get(`${__ENV.BASE}/text?visit=${data.visits}`, { headers: { Authorization: `Bearer ${data.token}` } }));
  if (__VU === 1) {
    console.log(__ITER, data.visits, typeof data.when, JSON.stringify(data.deep.list), data.deep.text);
  }
}

export function teardown(data) {
  console.log(data.visits, JSON.stringify(data.deep.list), typeof data.when);
  http.del(`${__ENV.BASE}/echo`, null, { headers: { Authorization: data.token } });
}

export function handleSummary(data) {
  const { count, rate } = data.metrics.http_reqs.values;
  const seconds = data.state.testRunDurationMs / 1000;
  const iterations = data.metrics.iterations.values;
  return {
    stdout: `${count} ${Math.abs(rate * seconds - count) < 0.01} ${seconds > 0.7} ${Math.abs(iterations.rate * seconds - 4) < 0.01}
${JSON.stringify([data.setup_data.visits, data.setup_data.deep.list, data.setup_data.deep.text])}\n`,
  };
}
