// Every virtual user does the same number of iterations, in two scenarios with functions, variables and tags of their own.
import http from 'k6/http';

export const options = {
  scenarios: {
    first: { executor: 'per-vu-iterations', vus: 2, iterations: 3, exec: 'one', env: { WHO: 'ann' } },
    second: { executor: 'per-vu-iterations', vus: 1, iterations: 2, exec: 'two', startTime: '300ms', tags: { kind: 'b' } },
  },
  thresholds: { 'http_reqs{scenario:first}': ['count==6'], 'http_reqs{kind:b}': ['count==2'] },
};

export function one() {
  http.get(`${__ENV.BASE}/text?who=${__ENV.WHO}`);
}

export function two() {
  http.get(`${__ENV.BASE}/text?who=${__ENV.WHO}`);
}
