// A predicate that throws fails its check and ends the iteration; plain values are predicates, too.
import { check } from 'k6';

export const options = { vus: 1, iterations: 2 };

export default function () {
  console.log(check(1, { truthy: 'text', falsy: 0, empty: '' }));
  console.log(check(1, { equal: (n) => n === 1 }, { kind: 'a' }));
  check(null, { first: true, throws: (r) => r.status === 200, never: true });
  console.log('not reached');
}
