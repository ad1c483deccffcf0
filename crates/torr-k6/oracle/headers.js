// Header fields as they are sent and as they are read.
import http from 'k6/http';

export const options = { userAgent: 'oracle/1' };

export default function () {
  const response = http.get(`${__ENV.BASE}/headers`, {
    headers: { 'x-api-key': 'k', 'X-Number': 5, 'content-type': 'text/plain', Host: 'shop.test', 'x-none': undefined },
  });
  console.log(response.headers['X-Custom-Name'], response.headers['x-custom-name'], response.headers['Two']);
  console.log(response.request.method, JSON.stringify(Object.entries(response.request.headers).sort()));
  http.get(`${__ENV.BASE}/text`, { headers: { 'User-Agent': 'other' } });
  http.get(`${__ENV.BASE}/text`, { headers: { 'User-Agent': '' } });
}
