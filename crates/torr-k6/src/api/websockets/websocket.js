// The classes of `k6/websockets`, as a function of the host's part: sockets by number, and texts as bytes.
(host) => {
  const TYPES = ["open", "message", "error", "close", "ping", "pong"];
  const [CONNECTING, OPEN, CLOSING, CLOSED] = [0, 1, 2, 3];

  const joined = (parts) => {
    const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  };

  const bytesOf = (value) => {
    if (value instanceof ArrayBuffer) return new Uint8Array(value);
    if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    return undefined;
  };

  const contents = new WeakMap();

  class Blob {
    constructor(parts = [], options = {}) {
      if (parts === null || typeof parts !== "object" || typeof parts[Symbol.iterator] !== "function") {
        host.fail("the parts of a Blob must be an array");
      }
      const bytes = joined([...parts].map((part) => contents.get(part) ?? bytesOf(part) ?? host.encode(String(part))));
      contents.set(this, bytes);
      const type = options && options.type !== undefined ? String(options.type) : "";
      Object.defineProperties(this, {
        size: { value: bytes.length, enumerable: true },
        type: { value: type, enumerable: true },
      });
    }

    async text() {
      return host.decode(contents.get(this));
    }

    async arrayBuffer() {
      return contents.get(this).slice().buffer;
    }

    async bytes() {
      return contents.get(this).slice();
    }

    slice(start = 0, end = this.size, type = "") {
      return new Blob([contents.get(this).slice(start, end)], { type });
    }

    stream() {
      host.fail("Blob.stream() is not supported: use text(), bytes() or arrayBuffer()");
    }
  }

  function WebSocket(url, protocols, params) {
    const socket = new.target ? this : Object.create(WebSocket.prototype);
    const listeners = {};
    const handlers = {};
    let [state, binaryType, protocol, number] = [CONNECTING, "blob", "", undefined];

    const dispatch = (type, fields) => {
      const event = { type, target: socket, timestamp: Date.now(), ...fields };
      for (const call of [handlers[type], ...(listeners[type] ?? [])]) {
        if (call) call.call(socket, event);
      }
    };

    const deliver = (type, first, second) => {
      switch (type) {
        case "open":
          [state, protocol] = [OPEN, first];
          return dispatch(type, {});
        case "message": {
          const isText = typeof first === "string";
          const data = isText || binaryType === "arraybuffer" ? first : new Blob([first]);
          return dispatch(type, { data, origin: url });
        }
        case "error":
          state = CLOSED;
          return dispatch(type, { error: first });
        case "close":
          state = CLOSED;
          return dispatch(type, { code: first, reason: second });
        default:
          return dispatch(type, {});
      }
    };

    const mustBeOpen = () => {
      if (state !== OPEN) host.fail("InvalidStateError");
    };

    const methods = {
      send(data) {
        mustBeOpen();
        const bytes = typeof data === "string" ? data : contents.get(data) ?? bytesOf(data);
        if (bytes === undefined) host.fail(`unsupported send type ${data === null ? "null" : typeof data}`);
        host.send(number, bytes);
      },
      ping() {
        mustBeOpen();
        host.ping(number);
      },
      close(code, reason) {
        const wanted = code === undefined || code === null ? 1000 : Number(code);
        if (wanted !== 1000 && !(wanted >= 3000 && wanted <= 4999)) {
          host.fail(
            "InvalidAccessError: Failed to execute 'close' on 'WebSocket': " +
              `The close code must be either 1000, or between 3000 and 4999. ${code} is neither`,
          );
        }
        if (state === CLOSING || state === CLOSED) return;
        state = CLOSING;
        host.close(number, wanted, reason === undefined || reason === null ? "" : String(reason));
      },
      addEventListener(type, call) {
        if (!TYPES.includes(type)) return host.warn(`can't add event handler: unknown event type: ${type}`);
        if (typeof call !== "function") host.fail("the handler of an event must be a function");
        (listeners[type] ??= []).push(call);
      },
    };

    const properties = {
      url: { get: () => url },
      readyState: { get: () => state },
      bufferedAmount: { get: () => host.unsent(number) },
      extensions: { get: () => [] },
      protocol: { get: () => protocol },
      binaryType: {
        get: () => binaryType,
        set(type) {
          if (type !== "blob" && type !== "arraybuffer") {
            host.fail(`unknown binaryType ${type}, the supported ones are "blob" and "arraybuffer"`);
          }
          binaryType = type;
        },
      },
    };
    for (const type of TYPES) {
      const name = `on${type}`;
      properties[name] = {
        get: () => handlers[type],
        set(call) {
          if (call !== undefined && call !== null && typeof call !== "function") {
            host.fail(`a value for '${name}' should be callable`);
          }
          handlers[type] = call ?? undefined;
        },
      };
    }
    for (const [name, value] of Object.entries(methods)) properties[name] = { value };
    for (const property of Object.values(properties)) property.enumerable = true;
    Object.defineProperties(socket, properties);

    number = host.open(url, protocols, params, deliver);
    return socket;
  }

  return { WebSocket, Blob };
};
