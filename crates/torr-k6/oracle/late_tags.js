// The tags of a request that is under way while the script changes them.
import http from 'k6/http';
import exec from 'k6/execution';
import { check } from 'k6';

export const options = {
  thresholds: { 'http_reqs{at:before}': ['count>=0'], 'http_reqs{at:after}': ['count>=0'], 'checks{at:before}': ['rate==1'] },
};

export default async function () {
  exec.vu.metrics.tags.at = 'before';
  check(1, { one: true });
  const sent = http.asyncRequest('GET', `${__ENV.BASE}/delay/100`);
  exec.vu.metrics.tags.at = 'after';
  await sent;
  http.get(`${__ENV.BASE}/text`);
}
