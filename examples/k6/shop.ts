// A shop under load: virtual users log in by rows of a file, look at items, and order one of ten.
//
//   torr k6 run examples/k6/shop.ts -e BASE=http://127.0.0.1:8080
//   torr examples/k6/shop.ts --variable BASE=http://127.0.0.1:8080

import { check, group, sleep } from 'k6';
import { SharedArray } from 'k6/data';
import exec from 'k6/execution';
import http from 'k6/http';
import { Counter, Trend } from 'k6/metrics';
import type { Options } from 'k6/options';

interface Customer {
  name: string;
  item: number;
}

enum Outcome {
  Ordered = 'ordered',
  Looked = 'looked',
}

const base = __ENV.BASE || 'http://127.0.0.1:8080';
const outcomes = new Counter('outcomes');
const itemTime = new Trend('item_time', true);

// The rows are read once, and shared by all virtual users.
const customers = new SharedArray('customers', (): Customer[] =>
  open('./data/customers.csv')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','))
    .map(([name, item]) => ({ name, item: Number(item) })),
);

export const options: Options = {
  scenarios: {
    visits: { executor: 'shared-iterations', vus: 2, iterations: 10, maxDuration: '30s' },
  },
  thresholds: {
    checks: ['rate>0.99'],
    http_req_failed: ['rate<0.01'],
    'http_req_duration{name:item}': ['p(95)<2000'],
    'outcomes{outcome:ordered}': ['count==1'],
  },
};

export default function (): void {
  const customer = customers[exec.scenario.iterationInTest % customers.length] as Customer;
  group('look', () => {
    const response = http.get(`${base}/bytes/${customer.item}`, { tags: { name: 'item' } });
    itemTime.add(response.timings.duration);
    check(response, {
      'item is there': (r) => r.status === 200,
      'item is whole': (r) => r.body!.length === customer.item,
    });
  });
  const orders = exec.scenario.iterationInTest === 0;
  outcomes.add(1, { outcome: orders ? Outcome.Ordered : Outcome.Looked });
  sleep(0.1);
}
