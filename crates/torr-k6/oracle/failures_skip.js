// Certificates are not checked, errors of requests are thrown.
import http from 'k6/http';

export const options = { insecureSkipTLSVerify: true, throw: true, thresholds: { 'http_reqs{tls_version:tls1.3}': ['count==1'] } };

export default function () {
  const secure = http.get(`${__ENV.SECURE}/`, { tags: { name: 'secure' } });
  console.log(secure.status, secure.tls_version, secure.proto, secure.body, JSON.stringify(Object.entries(secure.ocsp).sort()));
  try {
    http.get('http://127.0.0.1:1/');
  } catch (error) {
    console.log(error.name, error.message.includes('connection refused'));
  }
  http.get('http://no.such.host.invalid/');
  console.log('not reached');
}
