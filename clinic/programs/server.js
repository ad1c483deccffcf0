// An HTTP server whose handler computes for so many rounds: node server.js HOST PORT ROUNDS
const http = require("http");
const crypto = require("crypto");

const [host, port, rounds] = process.argv.slice(2);
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
