// A service with a known place: a function that computes.
import http from 'node:http';

function hot() {
  let total = 0;
  for (let number = 0; number < 400_000; number++) {
    total += (number * number) % 7;
  }
  return total;
}

function handle(request, response) {
  if (request.url === '/hot') hot();
  response.end('ok');
}

const server = http.createServer(handle);
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
