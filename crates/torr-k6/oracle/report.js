// Groups, batches and metrics of all kinds, and what the summary and the outputs say of them.
import http from 'k6/http';
import { check, group } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
import { textSummary } from './lib/jslib/k6-summary.js';

const orders = new Counter('orders');
const stock = new Gauge('stock');
const refused = new Rate('refused');
const wait = new Trend('wait', true);
const size = new Trend('size');

const sorted = (key, value) =>
  value && typeof value === 'object' && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort()) : value;

export const options = {
  iterations: 2,
  tags: { run: 'r' },
  thresholds: {
    'wait{kind:a}': ['avg==20', 'p(95)<1'],
    'http_reqs{group:::shop::pay}': ['count==8'],
    'checks{check:has "quotes" and {braces}}': ['rate==1'],
    refused: ['rate<0.6'],
    size: ['p(50)==3'],
    'http_req_duration{name:item}': ['max>=0'],
  },
};

export default function () {
  group('shop', () => {
    check(http.get(`${__ENV.BASE}/text`), { ok: (r) => r.status === 200, 'has "quotes" and {braces}': true });
    group('pay', () => {
      const list = http.batch([
        `${__ENV.BASE}/text?n=1`,
        ['POST', `${__ENV.BASE}/echo`, { a: 1 }, { tags: { name: 'item' } }],
        { method: 'PUT', url: `${__ENV.BASE}/echo`, body: 'x', params: { tags: { kind: 'b' } } },
      ]);
      const named = http.batch({ one: ['GET', `${__ENV.BASE}/status/404`], 'two two': { url: `${__ENV.BASE}/json` } });
      // The batch of an object keeps its keys.
      check(named, { ok: (r) => r.one.status === 404 && r['two two'].json('b.c') === 'deep' && list.length === 3 });
    });
    group('pay', () => check(0, { ok: false, 'ünï ✓': true }, { own: 1 }));
  });
  check(0, { ok: true });
  orders.add(1);
  orders.add(2, { kind: 'a' });
  stock.add(7 - __ITER, { kind: 'a' });
  refused.add(__ITER === 0, { kind: 'b' });
  wait.add(10, { kind: 'b' });
  wait.add(20, { kind: 'a' });
  size.add(3);
}

export function handleSummary(data) {
  // Figures that depend on time are left out.
  const text = textSummary(data, { indent: ' ', enableColors: false });
  const lines = text.split('\n').map((line) => (/\.\.\.: |^ *(data_|iteration|http_req|vus|group_d)/.test(line) ? line.split('.')[0] : line));
  const { metrics } = data;
  const values = ['orders', 'stock', 'refused', 'wait', 'wait{kind:a}', 'size', 'checks'].map((name) => {
    const { rate, ...rest } = metrics[name].values;
    return [name, metrics[name].type, metrics[name].contains, rest, metrics[name].thresholds || null];
  });
  return {
    stdout: `${lines.join('\n')}\n${JSON.stringify([values, data.root_group, Object.keys(metrics).sort()], sorted, 1)}\n`,
  };
}
