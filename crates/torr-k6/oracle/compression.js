// Contents that are compressed before they are sent.
import http from 'k6/http';

export default function () {
  const sent = http.post(`${__ENV.BASE}/length`, 'text '.repeat(1000), { compression: 'gzip' });
  console.log(sent.json('encoding'), sent.json('length') < 500);
}
