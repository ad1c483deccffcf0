// A socket that is open when its scenario ends leaves no iteration behind.
import { WebSocket } from 'k6/websockets';

export const options = {
  scenarios: { cut: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' } },
  thresholds: { iterations: ['count==0'], ws_sessions: ['count==1'], ws_msgs_sent: ['count==0'] },
};

export default function () {
  const socket = new WebSocket(__ENV.SOCKETS);
  socket.onopen = () => setInterval(() => {}, 50);
}
