//! The importers against the programs whose files they read: each program and `torr once` send the same requests to one echo server.
//!
//! curl's tests run with all others. Those of newman and JMeter need programs that `tests/oracles/install` installs for `./test full`.

mod compare;
mod curl;
mod echo;
mod jmeter;
mod newman;
mod walk;
