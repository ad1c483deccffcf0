//! Readiness, sockets, addresses, clocks and TLS, for the load side and the server side alike.
//!
//! Linux only, on safe wrappers of its system calls (`rustix`): the event loops need a level-triggered listener beside
//! edge-triggered connections, and call `recv` without a layer between.
#![deny(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!(
    "Torr is for Linux: its event loops wait by epoll, and its evidence comes from /proc, sock_diag and TCP_INFO. \
     On macOS and Windows run it in a Linux container or virtual machine."
);

pub mod address;
pub mod backoff;
pub mod clock;
pub mod datagrams;
mod defer;
pub mod errors;
pub mod file_limit;
pub mod inherited;
pub mod local_ports;
pub mod perf_counter;
pub mod poller;
pub mod prefetch;
#[cfg(feature = "quic")]
pub mod quic;
pub mod shared_cells;
pub mod slab;
pub mod socket;
pub mod stop_signal;
pub mod tcp_info;
pub mod ticker;
pub mod timestamp;
pub mod tls;
pub mod udp_memory;
pub mod wake_up;

pub use address::Address;
pub use clock::{Clock, Nanos};
pub use poller::{Event, Events, Interest, Poller};
pub use shared_cells::SharedCells;
pub use slab::{Slab, Token};
pub use stop_signal::StopSignal;
pub use tcp_info::{TcpInfo, tcp_info};
pub use ticker::Ticker;
pub use udp_memory::{UdpMemory, udp_memory};
pub use wake_up::WakeUp;
