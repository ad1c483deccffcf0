import grpc from 'k6/net/grpc';
import { check } from 'k6';

export const options = {
  iterations: 2,
  thresholds: { 'grpc_req_duration{method:Unary,status:0}': ['p(95)<60000'], checks: ['rate==1'] },
};

const client = new grpc.Client();

// Objects with their keys in order, since k6 has those of messages and metadata in any.
const sorted = (_, value) =>
  value && typeof value === 'object' && !Array.isArray(value) && !value.toJSON
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
const log = (name, call) => {
  let text;
  try {
    text = JSON.stringify(call(), sorted);
  } catch (e) {
    text = `threw ${e.name}: ${e.message}`;
  }
  console.log(`${name}: ${text}`);
};
// An error whose text is each program's own, but for its beginning.
const begins = (name, length, call) => {
  try {
    call();
    console.log(`${name}: no error`);
  } catch (e) {
    console.log(`${name}: ${e.name}: ${e.message.slice(0, length)}`);
  }
};

log('exports', () => Object.keys(grpc).sort());
log('connect early', () => client.connect('127.0.0.1:1'));
log('invoke early', () => client.invoke('torr.test.Calls/Unary', {}));
log('load', () => client.load(['data'], 'calls.proto').map((method) => method.full_method).sort());
log('load again', () => client.load(['other', 'data'], 'calls.proto').length);
log('load one', () => client.load(['data'], 'calls.proto').find((method) => method.name === 'Up'));
log('load nothing', () => client.load());
begins('no file', 0, () => client.load(null, 'none.proto'));
begins('no set', 24, () => client.loadProtoset('none.protoset'));

const UNARY = 'torr.test.Calls/Unary';

export default function () {
  log('load late', () => client.load(['data'], 'calls.proto'));
  log('not connected', () => client.invoke(UNARY, {}));
  log('refused', () => client.connect('127.0.0.1:1', { plaintext: true, timeout: '5s' }));
  const wrong = [
    { plaintext: 1 }, { what: 1 }, { maxReceiveSize: 'a' }, { reflect: 'x' }, { authority: 1 }, { reflectMetadata: 1 },
  ];
  for (const params of wrong) log(JSON.stringify(params), () => client.connect(__ENV.GRPC, params));
  log('connect', () => client.connect(__ENV.GRPC, { plaintext: true }));
  log('unknown method', () => client.invoke('torr.test.Calls/Nope', {}));
  log('no method', () => client.invoke('', {}));
  log('no request', () => client.invoke(UNARY));
  begins('null', 20, () => client.invoke(UNARY, null));
  for (const request of ['x', [], { nope: 1 }, { count: 'x' }]) {
    begins(JSON.stringify(request), 55, () => client.invoke(UNARY, request));
  }
  const wrongs = [{ what: 1 }, { metadata: 1 }, { metadata: { a: 1 } }, { metadata: { 'a-bin': 'x' } }, { tags: { a: {} } }];
  for (const params of wrongs) log(JSON.stringify(params), () => client.invoke(UNARY, {}, params));
  for (const metadata of [{ 'A b': 'x' }, { 'x-a': 'a\nb' }]) {
    log(JSON.stringify(metadata), () => client.invoke(UNARY, {}, { metadata }).error);
  }

  const request = {
    text: 'hi', large: '9007199254740993', raw: 'AAE=', kind: 'NEW', inner: { id: 1 }, counts: { a: 1 }, one: 'x',
    numbers: [1.5, NaN, Infinity], number: -Infinity,
  };
  const metadata = { 'X-A': 'b', 'x-t-bin': new Uint8Array([65, 1]), 'grpc-timeout': '1n', te: 'x' };
  const res = client.invoke('/' + UNARY, request, { metadata, tags: { own: 'tag' } });
  delete res.headers.authority;
  log('response', () => ({ ...res, status: +res.status }));
  log('keys', () => Object.keys(res));
  check(res, { ok: (r) => r.status === grpc.StatusOK && `${r.status}` === 'OK' && r.status == 0 });

  const failed = client.invoke(UNARY, { status: 5, why: 'not \u00fcnder 100%' }, { tags: { name: 'mine' } });
  log('failed', () => [failed.error, failed.message, failed.trailers, +failed.status, `${failed.status}`, failed.status + 1]);
  check(failed, { failed: (r) => r.status === grpc.StatusNotFound && r.error.code === 5 && !(r.status === 5) });
  log('code beyond those known', () => client.invoke(UNARY, { status: 99, why: 'x' }).error);
  log('unimplemented', () => client.invoke('torr.test.Calls/Missing', {}).error);
  log('deadline', () => client.invoke(UNARY, { sleepMs: 5000 }, { timeout: '100ms' }).error);
  log('deadline in ms', () => client.invoke(UNARY, { sleepMs: 5000 }, { timeout: 100 }).status + 0);
  log('discarded', () => client.invoke(UNARY, { text: 'x' }, { discardResponseMessage: true }).message);
  log('large', () => client.invoke(UNARY, { size: 3000000 }).message.text.length);
  log('large request', () => client.invoke(UNARY, { text: 'x'.repeat(3000000) }).message.text.length);
  log('too large', () => client.invoke(UNARY, { size: 5000000 }).error);
  log('two messages', () => client.invoke('torr.test.Calls/Down', { count: 2, text: 'a' }).error);
  log('one message', () => client.invoke('torr.test.Calls/Down', { count: 1, text: 'a' }).message.text);
  log('no message', () => client.invoke('torr.test.Calls/Down', { count: 0, text: 'a' }).error);
  log('health', () => [+client.healthCheck().status, client.healthCheck('').status === grpc.HealthCheckServing]);
  log('health of a service', () => client.healthCheck('none'));
  log('close', () => [client.close(), client.close()]);
  log('closed', () => client.invoke(UNARY, {}));
  log('sizes', () => client.connect(__ENV.GRPC, { plaintext: true, maxReceiveSize: 10, maxSendSize: 20 }));
  log('received', () => client.invoke(UNARY, { text: 'abcdefghijklm' }).error);
  log('sent', () => client.invoke(UNARY, { text: 'abcdefghijklmnopqrstuvwxyz' }).error);
  client.close();

  const other = new grpc.Client();
  const params = { plaintext: true, reflect: true, reflectMetadata: { a: 'b' }, authority: 'foo.test' };
  log('reflection', () => other.connect('dns:///' + __ENV.GRPC, params));
  log('reflected', () => {
    const { message, headers } = other.invoke(UNARY, { text: 'r' });
    return [message, headers];
  });
  other.close();
}
