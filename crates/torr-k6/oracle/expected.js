// Which statuses are expected.
import http from 'k6/http';

http.setResponseCallback(http.expectedStatuses(200, { min: 400, max: 404 }));

export const options = {
  vus: 1,
  iterations: 1,
  thresholds: { http_req_failed: ['rate==0.5'], 'http_reqs{expected_response:true}': ['count==2'] },
};

export default function () {
  http.get(`${__ENV.BASE}/status/404`);
  http.get(`${__ENV.BASE}/status/200`);
  http.get(`${__ENV.BASE}/status/302`, { redirects: 0 });
  http.get(`${__ENV.BASE}/status/500`);
  http.get(`${__ENV.BASE}/status/500`, { responseCallback: null });
}
