// Custom metrics of all kinds.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const orders = new Counter('orders');
const stock = new Gauge('stock');
const refused = new Rate('refused');
const wait = new Trend('wait_time', true);
const size = new Trend('size');

export const options = {
  vus: 1,
  iterations: 4,
  thresholds: {
    orders: ['count==14', 'rate>0'],
    'orders{kind:book}': ['count==4'],
    stock: ['value==3'],
    refused: ['rate==0.5'],
    wait_time: ['p(95)<400', 'avg==250', 'med==250', 'max==400', 'min==100', 'p(90)==370'],
    size: ['max==3'],
  },
};

export default function () {
  console.log(orders.add(1, { kind: 'book' }), orders.add(2.5));
  stock.add(__ITER);
  refused.add(__ITER % 2 === 0);
  wait.add((__ITER + 1) * 100);
  size.add(__ITER);
  console.log(orders.name, orders.add('text'));
}
