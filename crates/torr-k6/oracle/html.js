// Selections in HTML.
import http from 'k6/http';
import { parseHTML } from 'k6/html';

export default function () {
  const page = http.get(`${__ENV.BASE}/html`).html();
  console.log(page.find('h1').text(), page.find('title').text(), page.find('a').attr('href'));
  console.log(page.find('li').size(), page.find('li').first().text(), page.find('li').eq(1).text(), page.find('li').last().text());
  console.log(page.find('input[name=token]').attr('value'), page.find('input[name=token]').val(), page.find('.none').text());
  page.find('li').each((index, item) => console.log(index, item.textContent()));
  console.log(page.find('ul').children().map((index, item) => item.text()).join('+'));
  console.log(page.find('li').toArray().map((item) => item.text()).join());
  const own = parseHTML('<p class="a b">one</p><p>two <b>bold</b></p>');
  console.log(own.find('p').hasClass('b'), own.find('p').last().html(), own.find('p').is('.a'), own.find('b').parent().text());
  console.log(own.find('p').not('.a').text(), own.find('p').filter('.a').text(), own.find('p').contents().size());
}
