// Iterations that outlast gracefulStop are interrupted, which try and finally do not see.
import { sleep } from 'k6';

export const options = {
  scenarios: { long: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '200ms' } },
  thresholds: { iterations: ['count==0'] },
};

export default function () {
  try {
    sleep(20);
  } catch (error) {
    console.log('caught');
  }
  console.log('not reached');
}
