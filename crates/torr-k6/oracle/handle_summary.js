// handleSummary replaces the summary and writes files.
import http from 'k6/http';
import { check, group } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const orders = new Counter('orders');
const stock = new Gauge('stock');
const refused = new Rate('refused');
const wait = new Trend('wait_time', true);

// The order of keys is not defined.
const sorted = (key, value) =>
  value && typeof value === 'object' && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort()) : value;

export const options = {
  vus: 1,
  iterations: 2,
  summaryTrendStats: ['min', 'count', 'p(99.9)'],
  thresholds: { 'http_req_duration{kind:a}': ['p(95)<60000', 'avg<0'], orders: ['count>0'] },
};

export function setup() {
  return { a: 1 };
}

export default function () {
  group('shop', () => {
    check(http.get(`${__ENV.BASE}/text`, { tags: { kind: 'a' } }), { found: (r) => r.status === 200 });
  });
  check(1, { outside: false });
  orders.add(2);
  stock.add(5);
  refused.add(__ITER === 0);
  wait.add(10);
}

export function handleSummary(data) {
  const shape = {};
  for (const name of Object.keys(data.metrics).sort()) {
    const metric = data.metrics[name];
    shape[name] = [metric.type, metric.contains, Object.keys(metric.values).sort(), metric.thresholds || null];
  }
  const exact = ['orders', 'stock', 'refused', 'wait_time', 'checks', 'iterations'].map((name) => {
    const values = { ...data.metrics[name].values };
    if (name !== 'refused' && name !== 'checks') {
      delete values.rate;
    }
    return values;
  });
  return {
    stdout: `${JSON.stringify([Object.keys(data).sort(), shape, exact, data.root_group, data.options, data.setup_data], sorted, 1)}\n${Object.keys(data.state).sort()}\n`,
  };
}
