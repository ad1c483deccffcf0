// Stands for Insomnia's native binding of libcurl, which npm has no binary of: the options go to the command line of curl, which
// is the same library. Everything that decides what is sent is Insomnia's own.
const { spawn } = require('node:child_process');
const { EventEmitter } = require('node:events');
const { readFileSync } = require('node:fs');

const names = new Proxy({}, { get: (_, name) => String(name) });

class Curl extends EventEmitter {
  static option = names;
  static info = names;

  options = {};
  cookies = [];

  setOpt(name, value) {
    if (name === 'COOKIELIST') this.cookies.push(value);
    else this.options[name] = value;
  }

  enable() {}
  close() {}
  getInfo(name) {
    return name === 'EFFECTIVE_URL' ? this.options.URL : 0;
  }

  perform() {
    const is = this.options;
    const args = ['--silent', '--show-error', '--include', '--globoff', '--http1.1', '--url', is.URL];
    const flag = (name, ...flags) => {
      if (is[name]) args.push(...flags);
    };
    flag('FOLLOWLOCATION', '--location');
    flag('PATH_AS_IS', '--path-as-is');
    flag('NOBODY', '--head');
    flag('MAXREDIRS', '--max-redirs', String(is.MAXREDIRS));
    if (is.CUSTOMREQUEST && is.CUSTOMREQUEST !== 'GET') args.push('--request', is.CUSTOMREQUEST);
    if (is.CUSTOMREQUEST === 'GET' && (is.POSTFIELDS !== undefined || is.UPLOAD)) args.push('--request', 'GET');
    if (is.USERNAME !== undefined) args.push('--digest', '--user', `${is.USERNAME}:${is.PASSWORD}`);
    if (is.USERAGENT) args.push('--user-agent', is.USERAGENT);
    for (const header of is.HTTPHEADER || []) args.push('--header', header);
    const cookies = this.cookies.map(line => line.split('\t')).map(part => `${part[5]}=${part[6]}`);
    if (cookies.length) args.push('--cookie', cookies.join('; '));
    let content;
    if (is.UPLOAD) content = readFileSync(is.READDATA);
    else if (is.POSTFIELDS !== undefined) content = Buffer.from(is.POSTFIELDS);
    else if (is.POST) content = Buffer.alloc(0);
    if (content) args.push('--data-binary', '@-');
    const curl = spawn('curl', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const out = [];
    curl.stdout.on('data', data => out.push(data));
    curl.stdin.end(content);
    curl.on('close', code => {
      if (code) return this.emit('error', new Error(`curl ends with ${code}`), code);
      let rest = Buffer.concat(out);
      const heads = [];
      while (rest.toString('latin1', 0, 5) === 'HTTP/') {
        const end = rest.indexOf('\r\n\r\n') + 4;
        heads.push(rest.subarray(0, end));
        rest = rest.subarray(end);
      }
      this.options.WRITEFUNCTION(rest);
      this.emit('end', 200, '', Buffer.concat(heads));
    });
  }
}

const constants = { Digest: 2, Ntlm: 8, Any: -17 };
module.exports = {
  Curl,
  CurlAuth: constants,
  CurlCode: { CURLE_ABORTED_BY_CALLBACK: 42 },
  CurlFeature: { Raw: 3 },
  CurlHttpVersion: {},
  CurlInfoDebug: {},
  CurlNetrc: { Required: 2 },
};
