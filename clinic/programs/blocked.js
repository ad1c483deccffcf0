// An HTTP server whose handler blocks its event loop for some milliseconds without computing, in so many processes:
// node blocked.js HOST PORT MILLISECONDS WORKERS
const cluster = require("cluster");
const http = require("http");

const [host, port, milliseconds, workers] = process.argv.slice(2);
if (Number(workers) > 1 && cluster.isPrimary) {
  for (let worker = 0; worker < Number(workers); worker++) cluster.fork();
} else {
  const never = new Int32Array(new SharedArrayBuffer(4));
  const server = http.createServer((request, response) => {
    Atomics.wait(never, 0, 0, Number(milliseconds));
    response.setHeader("Content-Type", "text/html");
    response.end("<p>Hello, world!</p>");
  });
  server.keepAliveTimeout = 60000;
  server.listen(Number(port), host);
}
