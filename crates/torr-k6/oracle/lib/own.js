import { shared } from './below/shared.js';

let count = 0;

export const named = `named ${shared}`;

export function counter() {
  count += 1;
  return count;
}

export default (number) => number + 1;
