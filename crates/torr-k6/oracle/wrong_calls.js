// Calls that send nothing, and what stands for their responses.
import http from 'k6/http';

const shown = (r) => JSON.stringify([r.status, r.url, r.status_text, r.proto, r.error_code, r.request, r.body, r.headers]);
const named = (call) => {
  try {
    return `no error: ${call()}`;
  } catch (error) {
    return error.name;
  }
};

export default function () {
  const url = `${__ENV.BASE}/text`;
  const wrong = [
    { timeout: 'x' },
    { timeout: null },
    { responseType: 'bad' },
    { responseType: undefined },
    { tags: { a: {} } },
    { tags: { a: null } },
    { compression: 'lzw' },
    { responseCallback: 5 },
  ];
  wrong.forEach((params) => console.log(JSON.stringify(params), shown(http.get(url, params))));
  for (const body of [[1], 5, 1.5, true, () => 1, new Date(0)]) {
    console.log(typeof body, shown(http.post(url, body)));
  }
  for (const place of [5, null, undefined, {}, 'http://a b/', 'http://[::1', 'http://h/%zz', '1.2.3.4:80/']) {
    console.log(typeof place, shown(http.get(place)));
  }
  for (const timeout of [0, -5, NaN, Infinity]) {
    const late = http.get(url, { timeout });
    console.log(late.error, late.error_code, late.url === url);
  }
  for (const method of [undefined, null, '']) {
    console.log(http.request(method, url).status);
  }
  for (const method of [5, 'patch']) {
    console.log(http.request(method, url).request.method);
  }
  console.log(http.get().error_code, http.post().error_code, http.request().error_code, http.request('GET').error_code);
  for (const redirects of [undefined, null, '1', -1, 1.9, NaN]) {
    console.log(http.get(`${__ENV.BASE}/redirect/3`, { redirects }).url.replace(__ENV.BASE, ''));
  }
  console.log(JSON.stringify(http.batch([url, null, url]).map((r) => r && [r.status, r.error === '', r.error_code])));
  console.log(JSON.stringify(Object.entries(http.batch({ a: { method: 'GET' } })).map(([key, r]) => [key, r.error])));
  console.log(named(() => http.batch()), named(() => http.batch('x')), named(() => http.batch([], [])));
  console.log(named(() => http.setResponseCallback(5)), named(() => http.expectedStatuses('x')));
  console.log(named(() => http.file(5)), named(() => http.cookieJar().delete(url, '')));
}
