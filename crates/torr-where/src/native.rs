//! Native programs: their memory, code, stacks and names, read from outside while they run.

pub mod cpu;
pub mod go;
pub mod maps;
pub mod memory;
pub mod names;
pub mod object_file;
pub mod observe;
pub mod own;
#[allow(unsafe_code)]
pub mod perf_event;
pub mod process;
pub mod sockets;
pub mod symbols;
pub mod syscall;
pub mod threads;
pub mod tidy;
pub mod unwind;
pub mod waits;
