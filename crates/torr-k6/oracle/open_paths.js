// Files by paths relative to modules.
import { below, later } from './lib/below/opens.js';

const required = require('./lib/below/requires.js');
const tried = (path) => {
  try {
    return open(path).trim();
  } catch (error) {
    return 'no such file';
  }
};

console.log(below.trim(), later().trim(), required.note.trim(), required.own());
console.log(tried('data/note.txt'), tried('./data/../data/note.txt'), tried('note.txt'), tried(''), open('data/note.txt', 'b').byteLength);
if (__VU === 1) {
  console.log(tried('data/rows.csv'));
}

export default function () {}
