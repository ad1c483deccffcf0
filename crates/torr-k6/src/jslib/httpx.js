// The module `httpx` of jslib: an HTTP client with a base URL and default headers, tags and parameters.
import http from 'k6/http';

export class Request {
  constructor(method, url, body, params = {}) {
    Object.assign(this, { method, url, body, params });
  }
}

const kind = (method) => class extends Request {
  constructor(url, body, params) {
    super(method, url, body, params);
  }
};

export const Get = kind('GET');
export const Post = kind('POST');
export const Put = kind('PUT');
export const Patch = kind('PATCH');
export const Delete = kind('DELETE');
export const Head = kind('HEAD');
export const Options = kind('OPTIONS');

export class Httpx {
  constructor(options = {}) {
    const { baseURL = '', headers = {}, tags = {}, ...params } = options;
    Object.assign(this, { baseURL, headers: { ...headers }, tags: { ...tags }, params });
  }

  setBaseUrl(url) {
    this.baseURL = url;
  }

  addHeader(name, value) {
    this.headers[name] = value;
  }

  addHeaders(headers) {
    Object.assign(this.headers, headers);
  }

  clearHeader(name) {
    delete this.headers[name];
  }

  addTag(name, value) {
    this.tags[name] = value;
  }

  addTags(tags) {
    Object.assign(this.tags, tags);
  }

  clearTag(name) {
    delete this.tags[name];
  }

  __url(url) {
    if (typeof url === 'string') return /^https?:\/\//.test(url) ? url : this.baseURL + url;
    // A value of the template tag http.url keeps its name.
    if (url && typeof url.url === 'string' && !/^https?:\/\//.test(url.url)) {
      return Object.assign(Object.create(Object.getPrototypeOf(url)), url, { url: this.baseURL + url.url, name: this.baseURL + url.name });
    }
    return url;
  }

  __params(params = {}) {
    return {
      ...this.params,
      ...params,
      headers: { ...this.headers, ...params?.headers },
      tags: { ...this.tags, ...params?.tags },
    };
  }

  request(method, url, body, params) {
    return http.request(method, this.__url(url), body, this.__params(params ?? {}));
  }

  asyncRequest(method, url, body, params) {
    return http.asyncRequest(method, this.__url(url), body, this.__params(params ?? {}));
  }

  get(url, body, params) {
    return this.request('GET', url, body, params);
  }

  post(url, body, params) {
    return this.request('POST', url, body, params);
  }

  put(url, body, params) {
    return this.request('PUT', url, body, params);
  }

  patch(url, body, params) {
    return this.request('PATCH', url, body, params);
  }

  delete(url, body, params) {
    return this.request('DELETE', url, body, params);
  }

  head(url, body, params) {
    return this.request('HEAD', url, body, params);
  }

  options(url, body, params) {
    return this.request('OPTIONS', url, body, params);
  }

  batch(requests, params) {
    const list = requests.map((request) => ({
      method: request.method,
      url: this.__url(request.url),
      body: request.body,
      params: this.__params({ ...params, ...request.params }),
    }));
    return http.batch(list);
  }
}
