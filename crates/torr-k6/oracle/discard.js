// Contents of responses are discarded, except where a request wants them.
import http from 'k6/http';

export const options = { discardResponseBodies: true };

export default function () {
  console.log(http.get(`${__ENV.BASE}/text`).body);
  console.log(http.get(`${__ENV.BASE}/text`, { responseType: 'text' }).body);
}
