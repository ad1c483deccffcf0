// Four scenarios beside one another, each with a function, variables and tags of its own.
import exec from 'k6/execution';
import http from 'k6/http';
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';

const begun = new Counter('begun');
const cut = new Counter('cut');

export const options = {
  tags: { custom: 'run' },
  scenarios: {
    full: {
      executor: 'constant-arrival-rate', rate: 10, timeUnit: '1s', duration: '2s', preAllocatedVUs: 2, maxVUs: 2, exec: 'slow',
      env: { PART: 'full' }, tags: { custom: 'full' }, gracefulStop: '10s',
    },
    rising: {
      executor: 'ramping-arrival-rate', startRate: 0, timeUnit: '1s', preAllocatedVUs: 4, exec: 'quick', env: { PART: 'rising' },
      stages: [{ duration: '2s', target: 10 }], tags: { custom: 'rising' },
    },
    late: {
      executor: 'per-vu-iterations', vus: 2, iterations: 3, startTime: '1s', exec: 'quick', env: { PART: 'late' }, tags: { custom: 'late' },
    },
    last: { executor: 'per-vu-iterations', startTime: '6s', exec: 'count' },
    cut: { executor: 'constant-vus', vus: 3, duration: '1s', gracefulStop: '0s', exec: 'endless', env: { PART: 'cut' } },
  },
  thresholds: {
    'begun{scenario:full}': ['count==2'],
    'dropped_iterations{scenario:full}': ['count>=18', 'count<=19'],
    'iterations{scenario:full}': ['count==2'],
    'begun{scenario:rising}': ['count>=9', 'count<=10'],
    'http_reqs{scenario:late}': ['count==6'],
    'http_reqs{custom:late}': ['count==6'],
    'http_reqs{scenario:cut}': ['count==3'],
    'begun{custom:run}': ['count==3'],
    'iterations{scenario:cut}': ['count==0'],
    'begun{scenario:cut}': ['count==3'],
    cut: ['count==3'],
    'dropped_iterations{custom:full}': ['count==0'],
    'begun{scenario:nowhere}': ['count==0'],
  },
};

export function slow() {
  begun.add(1);
  http.get(`${__ENV.BASE}/delay/3000?part=${__ENV.PART}`);
}

export function quick() {
  begun.add(1);
  http.get(`${__ENV.BASE}/text?part=${__ENV.PART}`);
}

export function endless() {
  begun.add(1);
  http.get(`${__ENV.BASE}/text?part=${__ENV.PART}`);
  sleep(1000);
}

// Reads how many iterations were interrupted, after all of them.
export function count() {
  cut.add(exec.instance.iterationsInterrupted);
}
