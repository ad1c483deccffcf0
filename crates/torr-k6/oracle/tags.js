// Tags of the run, of virtual users, of requests and of metrics.
import http from 'k6/http';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';

const seen = new Counter('seen');

export const options = {
  vus: 1,
  iterations: 1,
  tags: { team: 'shop' },
  thresholds: {
    'http_reqs{team:shop}': ['count==4'],
    'http_reqs{name:item}': ['count==2'],
    'http_reqs{page:2}': ['count==1'],
    'http_reqs{method:GET,status:200}': ['count==4'],
    'seen{colour:red}': ['count==1'],
    'seen{page:2}': ['count==2'],
  },
};

export default function () {
  http.get(`${__ENV.BASE}/text?id=1`, { tags: { name: 'item' } });
  http.get(`${__ENV.BASE}/text?id=2`, { tags: { name: 'item' } });
  http.get(http.url`${__ENV.BASE}/text?id=${3}`);
  exec.vu.metrics.tags.page = 2;
  http.get(`${__ENV.BASE}/text`);
  seen.add(1, { colour: 'red' });
  seen.add(1);
}
