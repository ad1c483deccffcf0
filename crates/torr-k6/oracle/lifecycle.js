// The top level runs for each virtual user; setup hands JSON to iterations and to teardown.
import http from 'k6/http';

console.log(`top level of ${__VU}`);
let calls = 0;

// The order of keys is not defined.
const sorted = (key, value) =>
  value && typeof value === 'object' && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort()) : value;


export const options = { vus: 1, iterations: 2 };

export function setup() {
  const response = http.post(`${__ENV.BASE}/echo`, JSON.stringify({ user: 'ann' }));
  return { token: response.json('body'), list: [1, null], calls };
}

export default function (data) {
  calls += 1;
  data.seen = (data.seen || 0) + 1;
  console.log(`iteration ${__ITER} of ${__VU}: ${calls} ${JSON.stringify(data, sorted)}`);
  http.get(`${__ENV.BASE}/text`, { headers: { Authorization: data.token } });
}

export function teardown(data) {
  console.log(`teardown ${JSON.stringify(data, sorted)} ${calls}`);
  http.del(`${__ENV.BASE}/echo`);
}
