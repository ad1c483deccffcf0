// Connections are kept within a virtual user, unless an option says otherwise.
import http from 'k6/http';

export const options = { vus: 1, iterations: 2, noConnectionReuse: true };

export default function () {
  http.get(`${__ENV.BASE}/connection`);
  http.get(`${__ENV.BASE}/connection`);
}
