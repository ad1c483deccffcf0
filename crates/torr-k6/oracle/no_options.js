// A script without options runs once.
import http from 'k6/http';

export default () => {
  http.get(`${__ENV.BASE}/text?vu=${__VU}&iteration=${__ITER}`);
};
