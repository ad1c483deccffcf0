// The module `url` of jslib: URL and URLSearchParams by the WHATWG's standard. Parsing is the host's.
import { parse, change, pairs, serialise } from 'torr:url';

const PARTS = ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'];

export class URLSearchParams {
  #list = [];
  #changed = () => {};

  constructor(init = '') {
    if (typeof init === 'object' && init !== null) {
      const entries = typeof init[Symbol.iterator] === 'function' ? init : Object.entries(init);
      for (const entry of entries) {
        const pair = [...entry];
        if (pair.length !== 2) throw new TypeError('each entry needs a name and a value');
        this.#list.push([String(pair[0]), String(pair[1])]);
      }
    } else {
      this.#list = pairs(String(init).replace(/^\?/, ''));
    }
  }

  static __of(query, changed) {
    const params = new URLSearchParams(query);
    params.#changed = changed;
    return params;
  }

  __replace(query) {
    this.#list = pairs(query.replace(/^\?/, ''));
  }

  get size() {
    return this.#list.length;
  }

  append(name, value) {
    this.#list.push([String(name), String(value)]);
    this.#changed(this.toString());
  }

  delete(name, value) {
    this.#list = this.#list.filter((pair) => pair[0] !== String(name) || (value !== undefined && pair[1] !== String(value)));
    this.#changed(this.toString());
  }

  get(name) {
    return this.#list.find((pair) => pair[0] === String(name))?.[1] ?? null;
  }

  getAll(name) {
    return this.#list.filter((pair) => pair[0] === String(name)).map((pair) => pair[1]);
  }

  has(name, value) {
    return this.#list.some((pair) => pair[0] === String(name) && (value === undefined || pair[1] === String(value)));
  }

  set(name, value) {
    const first = this.#list.findIndex((pair) => pair[0] === String(name));
    if (first === -1) {
      this.#list.push([String(name), String(value)]);
    } else {
      this.#list[first][1] = String(value);
      this.#list = this.#list.filter((pair, at) => at <= first || pair[0] !== String(name));
    }
    this.#changed(this.toString());
  }

  sort() {
    this.#list.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
    this.#changed(this.toString());
  }

  forEach(callback, self) {
    for (const [name, value] of this.#list) callback.call(self, value, name, this);
  }

  *entries() {
    for (const [name, value] of this.#list) yield [name, value];
  }

  *keys() {
    for (const [name] of this.#list) yield name;
  }

  *values() {
    for (const [, value] of this.#list) yield value;
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  toString() {
    return serialise(this.#list);
  }
}

export class URL {
  #parts;
  #params;

  constructor(url, base) {
    this.#parts = parse(String(url), base === undefined ? undefined : String(base));
    if (!this.#parts) throw new TypeError(`Invalid URL: ${url}`);
    this.#params = URLSearchParams.__of(this.#parts.search, (query) => this.#change('search', query));
  }

  static canParse(url, base) {
    return parse(String(url), base === undefined ? undefined : String(base)) !== undefined;
  }

  #change(part, value) {
    const changed = change(this.#parts.href, part, String(value));
    if (changed) this.#parts = changed;
    else if (part === 'href') throw new TypeError(`Invalid URL: ${value}`);
  }

  get origin() {
    return this.#parts.origin;
  }

  get searchParams() {
    return this.#params;
  }

  toString() {
    return this.#parts.href;
  }

  toJSON() {
    return this.#parts.href;
  }

  static {
    for (const part of PARTS) {
      Object.defineProperty(URL.prototype, part, {
        enumerable: true,
        configurable: true,
        get() {
          return this.#parts[part];
        },
        set(value) {
          this.#change(part, value);
          if (part === 'search' || part === 'href') this.#params.__replace(this.#parts.search);
        },
      });
    }
  }
}
