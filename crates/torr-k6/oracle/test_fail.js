// A script marks its run as failed, which goes on: exit code 110.
import exec from 'k6/execution';

export const options = { vus: 1, iterations: 2 };

export default function () {
  exec.test.fail('wrong');
  console.log(`iteration ${__ITER}`);
}
