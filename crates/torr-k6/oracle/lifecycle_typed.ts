// Modules of all kinds from a script with types, and errors in each part of its life.
import http from 'k6/http';
import exec from 'k6/execution';
import { sleep } from 'k6';
import type { Options } from 'k6/options';
import { type Shop, Colour, price } from './lib/shop.ts';
import { randomIntBetween } from './lib/jslib/k6-utils.js';

const common = require('./lib/common.js');
const rows: string = open(import.meta.resolve('./data/rows.csv'));
const fault: string | undefined = __ENV.FAULT;

if (fault === 'top') {
  throw new Error('a fault at the top level');
}
if (fault === 'one user' && __VU === 2) {
  throw new Error('a fault of one user');
}

export const options: Options = { vus: 2, iterations: 2 };

export function setup(): { shop: Shop } {
  http.get(`${__ENV.BASE}/text?part=setup`);
  if (fault === 'setup') {
    (undefined as any).missing();
  }
  return { shop: { name: 'books', colour: Colour.Blue } };
}

export default function (data: { shop: Shop }): void {
  http.get(`${__ENV.BASE}/text?part=iteration`);
  if (fault === 'iteration') {
    throw new TypeError('a fault of an iteration');
  }
  if (fault === 'stuck') {
    sleep(60);
  } else if (exec.scenario.iterationInTest === 0) {
    console.log(data.shop.name, data.shop.colour, price<number>(2), common.double(4), rows.length, randomIntBetween(3, 3));
  }
}

export function teardown(data: { shop: Shop }): void {
  http.get(`${__ENV.BASE}/text?part=teardown`);
  if (fault === 'teardown') {
    throw new Error('a fault of teardown');
  }
  if (__ENV.HANGS) {
    sleep(60);
  }
}

export function handleSummary(data: { metrics: Record<string, unknown> }) {
  return { stdout: `summary ${Object.keys(data.metrics).includes('http_reqs')}\n` };
}
