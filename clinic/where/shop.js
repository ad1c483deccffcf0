// A shop: node shop.js HOST PORT. Each path is a page with a fault of its own; the environment sets the sizes of its data.
//
// /login hashes the password in the event loop, /cart copies the cart by way of JSON, /slug tries a pattern that goes back and
// forth, /top sorts all articles for each request, and /overview computes six figures, each as expensive as the others.
'use strict';
const crypto = require('crypto');
const http = require('http');

/** Returns a number of the environment, or the usual one. */
function sizeOf(name, usual) {
  return Number(process.env[name] ?? usual);
}

const iterations = sizeOf('ITERATIONS', 3000);
const copied = sizeOf('COPIED', 500);
const letters = sizeOf('LETTERS', 17);
const ranked = sizeOf('RANKED', 1400);
const rounds = sizeOf('ROUNDS', 60);

const articles = Array.from({ length: 4000 }, (_, number) => {
  const value = (factor) => ((number * factor) % 97) / 8;
  return {
    number, name: `Artikel ${(number * 7919) % 9973} é`, amount: (number % 7) + 1, sold: (number * 31) % 53,
    price: value(3), weight: value(5), volume: value(7), deposit: value(11), tax: value(13), points: value(17),
  };
});

function checkPassword(password) { // clinic: login
  return crypto.pbkdf2Sync(password, 'a salt', iterations, 32, 'sha256').toString('hex');
} // clinic: login

function login() {
  return `session ${checkPassword('correct horse').slice(0, 16)}\n`;
}

function copyOf(cart) { // clinic: cart
  return JSON.parse(JSON.stringify(cart));
} // clinic: cart

function cart() {
  const own = copyOf(articles.slice(0, copied));
  own[0].amount += 1;
  return `${own.length} articles, ${own[0].amount} of the first\n`;
}

function isSlug(text) { // clinic: slug
  return /^([a-z]+-?)+$/.test(text);
} // clinic: slug

function slug() {
  return `${isSlug(`${'s'.repeat(letters)}!`)}\n`;
}

function bySales() { // clinic: top
  const own = articles.slice(0, ranked);
  return own.sort((one, other) => other.sold - one.sold || one.name.localeCompare(other.name));
} // clinic: top

function topSellers() {
  return bySales().slice(0, 20).map((article) => `${article.name}: ${article.sold}\n`).join('');
}

function totalPrice() {
  let sum = 0;
  for (let round = 0; round < rounds; round++) {
    for (const article of articles) sum += article.price * article.amount;
  }
  return sum / rounds;
}

function totalWeight() {
  let sum = 0;
  for (let round = 0; round < rounds; round++) {
    for (const article of articles) sum += article.weight * article.amount;
  }
  return sum / rounds;
}

function totalVolume() {
  let sum = 0;
  for (let round = 0; round < rounds; round++) {
    for (const article of articles) sum += article.volume * article.amount;
  }
  return sum / rounds;
}

function totalDeposit() {
  let sum = 0;
  for (let round = 0; round < rounds; round++) {
    for (const article of articles) sum += article.deposit * article.amount;
  }
  return sum / rounds;
}

function totalTax() {
  let sum = 0;
  for (let round = 0; round < rounds; round++) {
    for (const article of articles) sum += article.tax * article.amount;
  }
  return sum / rounds;
}

function totalPoints() {
  let sum = 0;
  for (let round = 0; round < rounds; round++) {
    for (const article of articles) sum += article.points * article.amount;
  }
  return sum / rounds;
}

function overview() {
  return `${totalPrice()} ${totalWeight()} ${totalVolume()} ${totalDeposit()} ${totalTax()} ${totalPoints()}\n`;
}

const pages = { '/': () => 'a shop\n', '/login': login, '/cart': cart, '/slug': slug, '/top': topSellers, '/overview': overview };

const server = http.createServer((request, response) => {
  const page = pages[request.url];
  const content = page ? page() : 'not found\n';
  response.writeHead(page ? 200 : 404, { 'Content-Type': 'text/plain', 'Content-Length': Buffer.byteLength(content) });
  response.end(content);
});

if (process.argv.length !== 4) {
  console.error('usage: node shop.js HOST PORT');
  process.exit(2);
}
server.listen({ host: process.argv[2], port: Number(process.argv[3]), backlog: 4096 });
