// Groups and checks with asynchronous functions, and with names that they must not have.
import { check, group } from 'k6';

const tried = (call) => {
  try {
    return call();
  } catch (error) {
    return error.name;
  }
};

export default function () {
  console.log(tried(() => group('g', async () => 1)), tried(() => check(1, { c: async () => true })));
  console.log(tried(() => group('a::b', () => 1)), tried(() => check(1, { 'a::b': true })), tried(() => group('n')));
  console.log(tried(() => check(1)), tried(() => check(1, null)), tried(() => check(1, {})));
  console.log(tried(() => check(1, [true, 1])), tried(() => check(1, { 'ü "x" {y}': (v) => v })));
}
