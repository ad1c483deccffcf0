// Types are removed; enums and namespaces become values.
import http, { type Response } from 'k6/http';
import { check } from 'k6';
import type { Options } from 'k6/options';

enum Colour {
  Red = 'red',
  Blue = 'blue',
}

enum Level {
  Low,
  High = 5,
  Higher,
}

namespace Shop {
  export const name: string = 'books';
}

interface Item<T> {
  readonly id: T;
  label?: string;
}

class Basket {
  private items: Item<number>[] = [];
  constructor(public readonly owner: string) {}
  add(item: Item<number>): this {
    this.items.push(item);
    return this;
  }
  get size(): number {
    return this.items.length;
  }
}

export const options: Options = { vus: 1, iterations: 1 };

export default function (): void {
  const basket = new Basket('ann').add({ id: 1 }).add({ id: 2, label: 'b' } satisfies Item<number>);
  const response = http.get(`${__ENV.BASE}/text`) as Response;
  check(response, { found: (r): boolean => r!.status === 200 });
  console.log(Colour.Blue, Level.Higher, Level[5], Shop.name, basket.owner, basket.size, <string>'cast');
}
