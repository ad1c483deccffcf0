// Digest authentication, and credentials in URLs.
import http from 'k6/http';

export const options = { vus: 1, iterations: 1, thresholds: { http_reqs: ['count==5'], http_req_failed: ['rate==0'] } };

export default function () {
  const host = __ENV.BASE.replace('http://', '');
  console.log(http.get(`http://ann:secret@${host}/echo`).status);
  console.log(http.get(`http://ann:secret@${host}/digest`, { auth: 'digest' }).status);
  const shown = http.get(`http://ann:secret@${host}/digest`, { auth: 'digest' }).url;
  console.log(shown === `${__ENV.BASE}/digest`);
}
