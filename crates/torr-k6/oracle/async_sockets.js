// Promises, timers and WebSockets in one iteration, which ends after all of them.
import http from 'k6/http';
import ws from 'k6/ws';
import { WebSocket } from 'k6/websockets';
import { check } from 'k6';

export const options = {
  scenarios: {
    promises: { executor: 'per-vu-iterations', vus: 1, iterations: 3, exec: 'promises' },
    blocking: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'blocking', startTime: '2s' },
    events: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'events', startTime: '4s' },
  },
  thresholds: {
    'iterations{scenario:promises}': ['count==3'],
    ws_sessions: ['count==3'],
    ws_msgs_sent: ['count==11'],
    ws_msgs_received: ['count==7'],
    checks: ['rate==1'],
  },
};

export async function promises() {
  const base = __ENV.BASE;
  const all = await Promise.all([0, 1, 2].map((n) => http.asyncRequest('GET', `${base}/delay/20?n=${n}`)));
  console.log(all.map((r) => r.body).join(), __ITER);
  setTimeout(() => console.log('timer', __ITER), 30);
  const settled = await Promise.allSettled([Promise.reject(new Error('a')), http.asyncRequest('GET', 'http://127.0.0.1:1/')]);
  console.log(settled.map((one) => one.status).join());
  if (__ITER === 1) {
    Promise.reject(new Error('nobody handles this'));
  }
  if (__ITER === 2) {
    throw new Error('thrown after an await');
  }
}

export function blocking() {
  let ticks = 0;
  const response = ws.connect(__ENV.SOCKETS, { headers: { 'X-Own': '1' }, tags: { kind: 'ws' } }, (socket) => {
    socket.on('open', () => {
      console.log('open');
      socket.setInterval(() => {
        ticks += 1;
        socket.send(`tick ${ticks}`);
      }, 20);
    });
    socket.on('message', (text) => {
      console.log('message', text);
      if (text === 'tick 3') {
        socket.close();
      }
    });
    socket.on('close', (code) => console.log('closed', code));
    socket.on('error', (error) => console.log('error', error.error()));
    socket.setTimeout(() => console.log('too late'), 10000);
  });
  check(response, { opened: (r) => r.status === 101 });
}

export function events() {
  const sockets = [1, 2].map((n) => {
    const socket = new WebSocket(__ENV.SOCKETS);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      socket.send(`hello ${n}`);
      socket.send(new Uint8Array([n, 2, 3]).buffer);
    };
    socket.onmessage = (event) => {
      if (n === 1) {
        console.log(typeof event.data === 'string' ? event.data : new Uint8Array(event.data).join());
      }
      if (typeof event.data !== 'string') {
        socket.ping();
      }
    };
    socket.onpong = () => {
      socket.close();
    };
    socket.addEventListener('close', (event) => n === 1 && console.log('closed', event.code, socket.readyState));
    return socket;
  });
  console.log(sockets.length, sockets[0].readyState, sockets[0].url.slice(0, 5));
}
