// The data of setup as iterations and teardown get it.
import exec from 'k6/execution';
import { group } from 'k6';

export const options = { iterations: 2 };

const sorted = (data) => JSON.stringify(Object.entries(data).sort());

export function setup() {
  return { n: 1, u: undefined, z: null, s: new Set([1]), m: new Map([['k', 2]]), a: [undefined], b: new Uint8Array(1).buffer };
}

export default function (data) {
  console.log(sorted(data));
  data.own = __ITER;
  console.log(JSON.stringify(group('', () => exec.vu.metrics.tags.group)));
}

export function teardown(data) {
  console.log(sorted(data));
}
