// Forms are submitted, links are followed.
import http from 'k6/http';

export default function () {
  const page = http.get(`${__ENV.BASE}/html`);
  const sent = page.submitForm({ formSelector: 'form', fields: { user: 'ann' } });
  console.log(sent.status, sent.json('method'), sent.json('body'));
  const clicked = page.clickLink({ selector: 'a' });
  console.log(clicked.status, clicked.url.slice(__ENV.BASE.length));
}
