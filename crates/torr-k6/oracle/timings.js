// What the times of a request are made of.
import http from 'k6/http';

export const options = {
  iterations: 2,
  thresholds: {
    http_req_connecting: ['min==0', 'max>0'],
    http_req_tls_handshaking: ['max==0'],
    http_req_duration: ['min>=90'],
    http_req_waiting: ['min>=90'],
    'http_req_duration{expected_response:true}': ['min>=90'],
  },
};

export default function () {
  const { timings } = http.get(`${__ENV.BASE}/delay/100`);
  console.log(Math.abs(timings.duration - timings.sending - timings.waiting - timings.receiving) < 0.001, timings.waiting >= 90);
  console.log(timings.blocked >= timings.connecting, timings.connecting > 0, timings.tls_handshaking, timings.looking_up);
}
