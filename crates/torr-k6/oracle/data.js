// Rows of a file, shared by all virtual users.
import { SharedArray } from 'k6/data';
import exec from 'k6/execution';

const rows = new SharedArray('rows', () => {
  console.log('read');
  return open('./data/rows.csv').trim().split('\n').slice(1).map((line) => ({ name: line.split(',')[0] }));
});
const bytes = open('./data/note.txt', 'b');

export const options = { vus: 1, iterations: 3 };

export default function () {
  const row = rows[exec.scenario.iterationInTest];
  console.log(row.name, rows.length, bytes.byteLength, rows[1] === rows[1]);
  try {
    row.name = 'other';
    console.log('written', row.name);
  } catch (error) {
    console.log(error instanceof TypeError);
  }
  if (__ITER === 0) {
    console.log(rows.map((one) => one.name).join(), rows.filter((one) => one.name > 'b').length, JSON.stringify(rows));
    for (const one of rows) {
      console.log(one.name);
    }
  }
}
