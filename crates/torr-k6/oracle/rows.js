// Rows of a table, each of which one iteration takes.
import { SharedArray } from 'k6/data';
import exec from 'k6/execution';
import http from 'k6/http';
import papaparse from './lib/jslib/papaparse.js';

const users = new SharedArray('users', () => {
  console.log('the table is read');
  return papaparse.parse(open('./data/users.csv'), { header: true, skipEmptyLines: true }).data;
});
const names = new SharedArray('names', () => ['a', { b: [1] }, null, 5]);

export const options = {
  scenarios: { each: { executor: 'shared-iterations', vus: 7, iterations: users.length, maxDuration: '30s' } },
  thresholds: { http_reqs: [`count==${users.length}`] },
};

export default function () {
  const at = exec.scenario.iterationInTest;
  const user = users[at];
  http.get(`${__ENV.BASE}/text?at=${at}&user=${encodeURIComponent(user.name)}&note=${encodeURIComponent(user.note)}`);
  if (at === 0) {
    for (const write of [() => (user.name = 'x'), () => (users[0] = {}), () => users.push(1), () => (names[1].b[0] = 2), () => delete user.name]) {
      try {
        console.log('written', write());
      } catch (error) {
        console.log(error.name);
      }
    }
    console.log(users.length, Object.keys(user).join(), users[users.length], users[-1], names[2], JSON.stringify(names));
    console.log([...users].length, users.find((one) => one.name === 'eve').note, users.slice(0, 2).map((one) => one.name));
  }
}
