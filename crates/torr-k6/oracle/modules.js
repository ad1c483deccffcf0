// Modules of the script's own, by import and by require.
import http, { get as fetchText } from 'k6/http';
import * as all from 'k6/http';
import main, { named, counter } from './lib/own.js';

const common = require('./lib/common.js');
const data = JSON.parse(open('./data/settings.json'));

export { named as renamed };

export default function () {
  console.log(main(2), named, counter(), counter(), common.double(4), data.colour);
  console.log(http.get === fetchText, all.get === fetchText, import.meta.resolve('./data/rows.csv').endsWith('/data/rows.csv'));
  console.log(open === undefined, typeof globalThis.fetch, typeof globalThis.URL, typeof globalThis.Buffer, typeof globalThis.process);
}
