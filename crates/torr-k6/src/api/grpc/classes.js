// The classes and constants of `k6/net/grpc`, as a function of the host's part: clients as objects of the host, streams by number.
(host) => {
  // A number with a name, as k6 has statuses: there is one object for each number, so that `===` compares them.
  class Named {
    #number;
    #name;

    constructor(number, name) {
      this.#number = number;
      this.#name = name;
      Object.freeze(this);
    }

    valueOf() {
      return this.#number;
    }

    toString() {
      return this.#name;
    }

    toJSON() {
      return this.#number;
    }
  }

  const named = (names, other) => {
    const known = names.map((name, number) => new Named(number, name));
    const more = new Map();
    return (number) => {
      if (known[number]) return known[number];
      if (!more.has(number)) more.set(number, new Named(number, other(number)));
      return more.get(number);
    };
  };

  const STATUSES = [
    "OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists",
    "PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented",
    "Internal", "Unavailable", "DataLoss", "Unauthenticated",
  ];
  const statusOf = named(STATUSES, (number) => `Code(${number})`);
  const healthOf = named(["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"], String);

  const isNothing = (value) => value === undefined || value === null;

  // What is no number of JSON is a text in that of protobuf.
  const numbers = (_, value) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : value);

  const jsonOf = (given) => () => {
    if (given.length === 0) host.fail("request cannot be nil");
    const [request] = given;
    if (isNothing(request)) throw new TypeError("Cannot convert undefined or null to object");
    let json;
    try {
      json = JSON.stringify(request, numbers);
    } catch (error) {
      if (!/circular/i.test(error.message)) throw error;
      host.fail("unable to normalize number strings: cyclic reference to an object found");
    }
    return json ?? "";
  };

  const answered = (response) => {
    response.status = statusOf(response.status);
    return response;
  };

  const textOf = (value) => (value === undefined ? "" : String(value));
  const listOf = (value) => (isNothing(value) ? [] : Array.from(value, String));

  const states = new WeakMap();

  function Client() {
    const client = new.target ? this : Object.create(Client.prototype);
    const state = host.client();
    const methods = {
      load: (folders, ...names) => host.load(state, listOf(folders), names.map(String)),
      loadProtoset: (name) => host.loadProtoset(state, textOf(name)),
      connect: (address, params) => host.connect(state, textOf(address), params),
      healthCheck: (service) => ({ status: healthOf(host.healthCheck(state, isNothing(service) ? "" : String(service))) }),
      invoke: (method, ...given) =>
        answered(host.invoke(state, textOf(method), given[1], jsonOf(given))),
      asyncInvoke: (method, ...given) =>
        new Promise((resolve) => {
          host.begin(state, textOf(method), given[1], jsonOf(given), (response) => resolve(answered(response)));
        }),
      close: () => host.close(state),
    };
    states.set(client, state);
    return Object.assign(client, methods);
  }

  function Stream(client, method, params) {
    if (isNothing(client)) host.fail("invalid GRPC Stream's client: empty gRPC client");
    const state = states.get(client);
    if (!state) host.fail("invalid GRPC Stream's client: not a gRPC client");
    const listeners = { data: [], error: [], end: [], status: [] };
    const path = textOf(method).replace(/^(?=[^/])/, "/");
    let isWritable = true;
    let hasEnded = false;

    const tell = (event, value) => {
      const metadata = { ts: Math.floor(Date.now() / 1000) };
      for (const call of [...listeners[event]]) call(value, metadata);
    };

    const failed = (code, message, shown, details) => {
      hasEnded = true;
      const error = { code: statusOf(code), details, message, error: () => `code: ${code}, message: ${message}` };
      Object.defineProperty(error, "toString", { value: error.error });
      if (listeners.error.length === 0) {
        host.warn(`no handlers for error registered, but an error happened: ${shown}`, path);
      }
      tell("error", error);
      tell("end", {});
    };

    const deliver = (event, ...given) => {
      if (hasEnded) return;
      switch (event) {
        case "data":
          try {
            tell("data", given[0]);
          } catch (error) {
            host.drop(id);
            failed(2, String(error), String(error), []);
            throw error;
          }
          break;
        case "end":
          hasEnded = true;
          tell("end", {});
          break;
        case "error":
          failed(...given);
      }
    };

    const id = host.stream(state, textOf(method), params, deliver);
    const methods = {
      on(event, call) {
        if (typeof call !== "function") host.fail(`handler for "${event}" event isn't a callable function`);
        if (!Object.hasOwn(listeners, event)) {
          host.warn(`can't register ${event} event handler: unknown GRPC stream's event type: ${event}`);
          return;
        }
        listeners[event].push(call);
      },
      write(message) {
        if (!isWritable || hasEnded) return;
        if (isNothing(message)) {
          host.warn("can't send empty message", path);
          return;
        }
        const why = host.write(id, JSON.stringify(message) ?? "");
        if (isNothing(why)) return;
        // Handlers are called after the script's own code.
        isWritable = false;
        host.drop(id);
        Promise.resolve().then(() => failed(2, why, why, []));
      },
      end() {
        if (!isWritable) return;
        isWritable = false;
        host.end(id);
      },
    };
    return methods;
  }

  const constants = {};
  for (const [number, name] of STATUSES.entries()) constants[`Status${name}`] = statusOf(number);
  // The name of the last one is k6's.
  for (const [number, name] of ["Unknown", "Serving", "NotServing", "ServiceUnkown"].entries()) {
    constants[`HealthCheck${name}`] = healthOf(number);
  }
  return { Client, Stream, ...constants };
}
