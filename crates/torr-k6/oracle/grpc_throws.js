import grpc from 'k6/net/grpc';

export const options = { iterations: 3 };

const client = new grpc.Client();
client.load(['data'], 'calls.proto');

export default function () {
  client.connect(__ENV.GRPC, { plaintext: true });
  const stream = new grpc.Stream(client, 'torr.test.Calls/Both');
  if (__ITER === 0) {
    // Without a handler an error is a warning.
    stream.write({ status: 3, why: 'nobody listens' });
    return;
  }
  stream.on('what', () => {});
  stream.on('error', (e) => console.log('error', e.code == grpc.StatusUnknown, e.message.slice(0, 11)));
  stream.on('end', () => console.log('end'));
  stream.on('data', () => {
    throw new Error('mine');
  });
  stream.write(null);
  stream.write({ text: 'a' });
  stream.end();
}
