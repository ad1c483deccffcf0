// A script aborts its run: exit code 108, after teardown.
import exec from 'k6/execution';

export const options = { vus: 1, iterations: 5 };

export default function () {
  console.log(`iteration ${__ITER}`);
  if (__ITER === 1) {
    exec.test.abort('enough');
  }
}

export function teardown() {
  console.log('teardown');
}
