// Virtual users are added and removed linearly.
import { sleep } from 'k6';
import exec from 'k6/execution';
import { Gauge } from 'k6/metrics';

const active = new Gauge('active');

export const options = {
  stages: [{ duration: '1s', target: 4 }, { duration: '1s', target: 0 }],
  thresholds: { active: ['value>=1'], vus_max: ['value==4'] },
};

export default function () {
  active.add(exec.instance.vusActive);
  sleep(0.05);
}
