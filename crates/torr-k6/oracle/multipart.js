// A file in a multipart form.
import http from 'k6/http';

const content = open('./data/note.txt');

export default function () {
  const sent = http.post(`${__ENV.BASE}/echo`, { file: http.file(content, 'note.txt', 'text/plain') });
  const type = sent.json('headers.Content-Type');
  const boundary = type.split('boundary=')[1];
  console.log(type.split(';')[0], sent.json('body').split(boundary).join('BOUNDARY'));
  const file = http.file(content);
  console.log(file.content_type, typeof file.filename);
}
