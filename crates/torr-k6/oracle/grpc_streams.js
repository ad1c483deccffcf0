import grpc from 'k6/net/grpc';

export const options = {
  vus: 2,
  iterations: 4,
  thresholds: { grpc_streams: ['count>0'], 'grpc_streams_msgs_received{method:Down}': ['count>0'] },
};

const client = new grpc.Client();
client.load(['data'], 'calls.proto');

const thrown = (call) => {
  try {
    return `returned ${call()}`;
  } catch (e) {
    return `${e.name}: ${e.message}`;
  }
};

// Opens a stream, and resolves with its events.
const watched = (method, params, begin, data) =>
  new Promise((resolve) => {
    const seen = [];
    const stream = new grpc.Stream(client, `torr.test.Calls/${method}`, params);
    stream.on('data', (order, about) => {
      const text = order.text && order.text.length > 20 ? order.text.length : order.text;
      seen.push(['data', text, order.count, Object.keys(about), typeof about.ts]);
      if (data) data(stream, order);
    });
    stream.on('error', (e, about) => {
      seen.push(['error', JSON.stringify([e.code, e.details, e.message.slice(0, 50)]), String(e.code), Object.keys(about)]);
    });
    stream.on('end', (nothing, about) => {
      seen.push(['end', nothing, Object.keys(about)]);
      resolve(seen);
    });
    begin(stream);
  });

export default async function () {
  // The lines of several users have any order; they are one text for each.
  const lines = [];
  const log = (name, value) => lines.push(`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  log('not connected', thrown(() => new grpc.Stream(client, 'torr.test.Calls/Down')));
  log('no client', thrown(() => new grpc.Stream()));
  log('no client', thrown(() => new grpc.Stream({})));
  client.connect(__ENV.GRPC, { plaintext: true });
  log('unknown', thrown(() => new grpc.Stream(client, 'torr.test.Calls/Nope')));
  log('no method', thrown(() => new grpc.Stream(client, '')));
  log('params', thrown(() => new grpc.Stream(client, 'torr.test.Calls/Down', { what: 1 })));
  log('metadata', thrown(() => new grpc.Stream(client, 'torr.test.Calls/Down', { metadata: { 'a b': 'c' } })));

  log('down', await watched('Down', null, (s) => s.write({ count: 3, text: 'a' })));
  log('ended', await watched('Down', { tags: { a: 'b' } }, (s) => {
    s.write({ count: 1, text: 'a' });
    s.end();
    s.write({ count: 1 });
    s.end();
  }));
  log('up', await watched('Up', {}, (s) => {
    for (const text of ['a', 'b', 'c']) s.write({ text });
    s.end();
  }));
  log('both', await watched('Both', {}, (s) => s.write({ count: 1 }), (s, order) => {
    if (order.count === 3) s.end();
    else s.write({ count: order.count + 1 });
  }));
  log('failed', await watched('Both', {}, (s) => s.write({ status: 7, why: 'no' })));
  log('without a text', await watched('Both', {}, (s) => s.write({ status: 7 })));
  log('canceled', await watched('Both', {}, (s) => s.write({ status: 1, why: 'x' })));
  log('deadline', await watched('Both', { timeout: '150ms' }, (s) => s.write({ sleepMs: 5000 })));
  log('unimplemented', await watched('Missing', {}, (s) => s.end()));
  log('discarded', await watched('Down', { discardResponseMessage: true }, (s) => s.write({ count: 2, text: 'a' })));
  log('large', await watched('Both', {}, (s) => {
    for (let n = 0; n < 3; n += 1) s.write({ size: 2000000 });
    s.end();
  }));
  log('too large', await watched('Both', {}, (s) => s.write({ size: 5000000 })));
  log('closed', await watched('Both', {}, (s) => s.write({ text: 'a' }), () => client.close()));

  client.connect(__ENV.GRPC, { plaintext: true });
  const calls = [1, 2, 3].map((n) => client.asyncInvoke('torr.test.Calls/Unary', { text: `n${n}`, sleepMs: 50 }));
  log('async', (await Promise.all(calls)).map((res) => [res.status, res.message.text]));
  let rejected = 0;
  const wrong = [['torr.test.Calls/Nope', {}], ['torr.test.Calls/Unary', { nope: 1 }], ['torr.test.Calls/Unary']];
  for (const given of wrong) {
    try {
      await client.asyncInvoke(...given);
    } catch {
      rejected += 1;
    }
  }
  log('rejected', rejected);
  client.close();
  console.log(lines.join('\n'));
}
