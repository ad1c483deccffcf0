// Reason phrases, fields of the connection, and content that is not what it is said to be.
import http from 'k6/http';

const shown = (r) => JSON.stringify([r.status, r.status_text, r.error_code, r.body, Object.keys(r.headers).sort()]);

export default function () {
  for (const path of ['reason', 'no-reason', 'chunks', 'until-close', 'keep-alive', 'bad-gzip', 'status/413']) {
    console.log(path, shown(http.get(`${__ENV.BASE}/${path}`)));
  }
  console.log(shown(http.get(`${__ENV.BASE}/bad-gzip`, { responseType: 'none' })));
  const page = http.get(`${__ENV.BASE}/html`).html();
  console.log(page.find('a').get(0).href().replace(__ENV.BASE, ''), page.find('form').get(0).action().replace(__ENV.BASE, ''));
  console.log(http.TLS_1_2, http.OCSP_STATUS_GOOD, JSON.stringify(http.file('data', 'a.txt')));
}
