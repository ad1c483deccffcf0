// A threshold with abortOnFail ends the run; teardown still runs.
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';

const faults = new Counter('faults');

export const options = {
  vus: 1,
  duration: '30s',
  thresholds: { faults: [{ threshold: 'count<3', abortOnFail: true }] },
};

export default function () {
  faults.add(1);
  sleep(0.2);
}

export function teardown() {
  console.log('teardown');
}
