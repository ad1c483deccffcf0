// Contents that are compressed before they are sent.
import http from 'k6/http';

export default function () {
  const sent = http.post(`${__ENV.BASE}/length`, 'text '.repeat(1000), { compression: 'gzip' });
  console.log(sent.json('encoding'), sent.json('length') < 500);
  const { request } = http.post(`${__ENV.BASE}/length`, 'as the script has it', { compression: 'gzip' });
  console.log(request.body, JSON.stringify(request.headers['Content-Encoding']));
  const text = 'some text '.repeat(20);
  for (const compression of ['gzip', 'deflate', 'br', 'zstd', 'gzip, br']) {
    const coded = http.post(`${__ENV.BASE}/coded`, text, { compression });
    console.log(compression, coded.body === text, coded.headers['Content-Encoding'], coded.error);
  }
}
