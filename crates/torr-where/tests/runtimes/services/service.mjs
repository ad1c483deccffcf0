// A service with known places: a function that computes, and one that V8 inlines into its caller.
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
  if (request.url === '/inlined') outer();
  response.end('ok');
}

function inner(number) {
  return (number * number) % 7 + (number * 3) % 11;
}

function outer() {
  let total = 0;
  for (let number = 0; number < 400_000; number++) {
    total += inner(number);
  }
  return total;
}

const server = http.createServer(handle);
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
