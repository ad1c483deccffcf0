//! The importers against the programs whose files they read: each program and `torr once` send the same requests to one echo server.
//!
//! And scripts of k6, run by k6 and by `torr k6`, and WebSockets of node.
//!
//! curl's tests run with all others. Those of newman, Bruno, Insomnia, httpyac, JMeter, Artillery, k6 and node's `ws` need
//! programs that `tests/oracles/install` installs for `./test full`.

mod artillery;
mod bruno;
mod compare;
mod curl;
mod echo;
mod httpyac;
mod insomnia;
mod jmeter;
mod k6;
mod newman;
mod walk;
mod websocket;
