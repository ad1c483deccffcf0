//! What the kernel reports about the memory of a UDP socket (SO_MEMINFO): its receive buffer, and the datagrams that it dropped.

use std::os::fd::{AsFd, AsRawFd};

/// The number of values that the kernel reports, and their positions (`linux/sock_diag.h`).
const VALUES: usize = 9;
const RECEIVE_BUFFER: usize = 1;
const DROPS: usize = 8;

/// The memory of a UDP socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UdpMemory {
    /// The size of the receive buffer in bytes, as SO_RCVBUF sets it: the kernel doubles it for its own records.
    pub receive_buffer: u64,
    /// The number of datagrams that the kernel has dropped, mostly because the receive buffer had no room. It wraps around.
    pub dropped: u32,
}

/// Reads the memory of a socket. `None` if the kernel does not report it (before Linux 4.12).
#[allow(unsafe_code)]
pub fn udp_memory(socket: impl AsFd) -> Option<UdpMemory> {
    let mut values = [0_u32; VALUES];
    let mut length = size_of_val(&values) as libc::socklen_t;
    // SAFETY: the descriptor is borrowed and so valid; the kernel writes at most `length` bytes, the size of `values`, and any
    // bytes are valid.
    let got = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            values.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let is_whole = got == 0 && length as usize == size_of_val(&values);
    is_whole.then(|| UdpMemory { receive_buffer: u64::from(values[RECEIVE_BUFFER] / 2), dropped: values[DROPS] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::sockopt::set_socket_recv_buffer_size;
    use std::net::UdpSocket;

    #[test]
    fn what_a_small_buffer_does_not_hold_is_dropped() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let address = socket.local_addr().expect("an address");
        set_socket_recv_buffer_size(&socket, 8192).expect("it can be set");
        assert_eq!(udp_memory(&socket), Some(UdpMemory { receive_buffer: 8192, dropped: 0 }));
        let sender = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let sent = 100;
        for _ in 0..sent {
            sender.send_to(&[7; 1000], address).expect("it is sent");
        }
        socket.set_nonblocking(true).expect("it can be set");
        let dropped = udp_memory(&socket).expect("it is reported").dropped;
        let received = std::iter::from_fn(|| socket.recv(&mut [0; 2000]).ok()).count() as u32;
        // On loopback a datagram that was sent has arrived, or was dropped.
        assert!(dropped > 0 && received > 0 && dropped + received == sent, "{dropped} dropped, {received} received");
    }
}
