//! Readiness, sockets, addresses and clocks: what both hot paths stand on, and nothing of HTTP.
//!
//! Linux only, by safe wrappers of its system calls (`rustix`): a loop here needs a level-triggered listener beside
//! edge-triggered connections, and no layer between itself and `recv`.
#![deny(unsafe_code)]

pub mod address;
pub mod backoff;
pub mod bell;
pub mod clock;
mod defer;
pub mod errors;
pub mod inherited;
pub mod limits;
pub mod local_ports;
pub mod poller;
pub mod shared_cells;
pub mod slots;
pub mod socket;
pub mod tcp_info;
pub mod ticker;
pub mod tls;

pub use address::Address;
pub use bell::Bell;
pub use clock::{Clock, Nanos};
pub use poller::{Event, Events, Interest, Poller};
pub use shared_cells::SharedCells;
pub use slots::{Slots, Token};
pub use tcp_info::{TcpInfo, tcp_info};
pub use ticker::Ticker;
