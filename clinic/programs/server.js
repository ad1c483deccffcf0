// An HTTP server whose handler computes for so many rounds, in so many processes: node server.js HOST PORT ROUNDS WORKERS
const cluster = require("cluster");
const http = require("http");
const crypto = require("crypto");

const [host, port, rounds, workers] = process.argv.slice(2);
if (Number(workers) > 1 && cluster.isPrimary) {
  for (let worker = 0; worker < Number(workers); worker++) cluster.fork();
} else {
  serve();
}

function serve() {
  const server = http.createServer((request, response) => {
    let body = "<p>Hello, world!</p>";
    for (let round = 0; round < Number(rounds); round++) {
      body = crypto.createHash("md5").update(body).digest("hex");
    }
    response.setHeader("Content-Type", "text/html");
    response.setHeader("Content-Length", Buffer.byteLength(body));
    response.end(body);
  });
  server.keepAliveTimeout = 60000;
  server.listen(Number(port), host);
}
