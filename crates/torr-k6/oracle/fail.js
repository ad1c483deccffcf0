// fail() and exceptions end an iteration, which counts, and leave the exit code 0.
import { fail } from 'k6';

export const options = { vus: 1, iterations: 3, thresholds: { iterations: ['count==3'] } };

export default function () {
  if (__ITER === 0) {
    fail('out of stock');
  }
  if (__ITER === 1) {
    throw new Error('no such item');
  }
  console.log('done');
}
