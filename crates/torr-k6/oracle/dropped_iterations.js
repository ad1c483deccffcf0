// Iterations for which no virtual user waits are dropped.
import { sleep } from 'k6';

export const options = {
  scenarios: {
    rate: {
      executor: 'constant-arrival-rate',
      rate: 10,
      timeUnit: '1s',
      duration: '2s',
      preAllocatedVUs: 1,
      maxVUs: 1,
      gracefulStop: '0s',
    },
  },
  thresholds: { dropped_iterations: ['count>=18'], iterations: ['count==0'] },
};

export default function () {
  sleep(10);
}
