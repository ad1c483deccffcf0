// All methods.
import http from 'k6/http';

export default function () {
  const url = `${__ENV.BASE}/echo`;
  http.get(url);
  http.head(url);
  http.post(url, 'text');
  http.put(url, 'text');
  http.patch(url, 'text');
  http.del(url, 'text');
  http.options(url, 'text');
  http.request('PROPFIND', url, 'text', { headers: { Depth: '1' } });
  http.request('GET', url);
  http.post(url);
  http.get(url, null, { headers: { Lost: '1' } });
}
