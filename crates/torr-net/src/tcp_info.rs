//! The socket option TCP_INFO. No safe wrapper returns the length that the kernel filled in, which differs by version.

use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// The size of the buffer in bytes, above that of the structure in any kernel; the kernel truncates to it.
const BUFFER: usize = 512;
/// The size of the structure in bytes in Linux 2.6, which every later kernel exceeds.
const MIN_LENGTH: usize = 104;

/// The offsets of the fields of `struct tcp_info` (`linux/tcp.h`), to which later kernels only append.
mod at {
    pub const STATE: usize = 0;
    pub const FLAGS: usize = 7;
    pub const UNACKED: usize = 24;
    pub const SACKED: usize = 28;
    pub const LAST_DATA_SENT: usize = 44;
    pub const LAST_DATA_RECEIVED: usize = 52;
    pub const RTT: usize = 68;
    pub const RTT_VARIATION: usize = 72;
    pub const RECEIVER_RTT: usize = 92;
    pub const TOTAL_RETRANSMITS: usize = 100;
    pub const ACKNOWLEDGED: usize = 120;
    pub const SEGMENTS_OUT: usize = 136;
    pub const MIN_RTT: usize = 148;
    pub const DELIVERY_RATE: usize = 160;
    pub const BUSY: usize = 168;
    pub const WINDOW_LIMITED: usize = 176;
    pub const BUFFER_LIMITED: usize = 184;
}

/// The kernel's statistics of one TCP socket. `None` where the kernel is too old or has not measured yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TcpInfo {
    /// The smoothed round-trip time, which includes the peer's delay of acknowledgements.
    pub rtt: Option<Duration>,
    /// The mean deviation of the round-trip time.
    pub rtt_variation: Option<Duration>,
    /// The minimum round-trip time over the kernel's window of five minutes.
    pub min_rtt: Option<Duration>,
    /// The round-trip time as the receiving side estimates it.
    pub receiver_rtt: Option<Duration>,
    /// The number of segments retransmitted since the connection began.
    pub retransmits: u32,
    /// The number of segments sent since the connection began, with pure acknowledgements and retransmissions.
    pub segments: Option<u32>,
    /// The number of bytes that the peer's system has acknowledged since the connection began.
    pub acknowledged: Option<u64>,
    /// The last delivery rate in bytes per second; `None` where the application limited it.
    pub delivery_rate: Option<u64>,
    /// The time with unacknowledged data in flight, in ticks of the kernel.
    pub busy: Option<Duration>,
    /// The part of `busy` in which the peer's receive window limited sending.
    pub window_limited: Option<Duration>,
    /// The part of `busy` in which the send buffer limited sending.
    pub buffer_limited: Option<Duration>,
    /// The number of unacknowledged segments; of a listener, the length of the accept queue.
    pub unacknowledged: u32,
    /// The number of selectively acknowledged segments; of a listener, the backlog.
    pub selectively_acknowledged: u32,
    /// The time since data was last sent, in ticks of the kernel.
    pub since_sent: Duration,
    /// The time since data was last received, or since the connection was established, in ticks of the kernel.
    pub since_received: Duration,
    /// Whether the connection is closed, such as by the peer's reset.
    pub is_closed: bool,
}

/// The state of a closed connection (`TCP_CLOSE` in `linux/tcp_states.h`).
const CLOSED: u8 = 7;

/// Reads the statistics of a TCP socket. `None` for any other socket.
#[allow(unsafe_code)]
pub fn tcp_info(socket: impl AsFd) -> Option<TcpInfo> {
    let mut bytes = [0_u8; BUFFER];
    let mut length = BUFFER as libc::socklen_t;
    // SAFETY: the descriptor is borrowed and so valid; the kernel writes at most `length` bytes, the size of `bytes`, and
    // any bytes are valid.
    let got = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if got == 0 { read(bytes.get(..length as usize)?) } else { None }
}

/// Reads the fields that the kernel has filled in.
fn read(filled: &[u8]) -> Option<TcpInfo> {
    if filled.len() < MIN_LENGTH {
        return None;
    }
    let u32_at = |at: usize| filled.get(at..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes));
    let u64_at = |at: usize| filled.get(at..)?.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes));
    // 0 and the maximum stand for times that were not measured yet.
    let measured = |at: usize| {
        let us = u32_at(at).filter(|&us| us != 0 && us != u32::MAX);
        us.map(|us| Duration::from_micros(us.into()))
    };
    let spent = |at: usize| u64_at(at).map(Duration::from_micros);
    // The first bit of a bit field, whose position follows the machine's byte order.
    let sender_limited = filled[at::FLAGS] & if cfg!(target_endian = "little") { 0x01 } else { 0x80 } != 0;
    Some(TcpInfo {
        rtt: measured(at::RTT),
        rtt_variation: measured(at::RTT_VARIATION),
        min_rtt: measured(at::MIN_RTT),
        receiver_rtt: measured(at::RECEIVER_RTT),
        retransmits: u32_at(at::TOTAL_RETRANSMITS)?,
        segments: u32_at(at::SEGMENTS_OUT),
        acknowledged: u64_at(at::ACKNOWLEDGED),
        delivery_rate: u64_at(at::DELIVERY_RATE).filter(|&rate| rate != 0 && !sender_limited),
        busy: spent(at::BUSY),
        window_limited: spent(at::WINDOW_LIMITED),
        buffer_limited: spent(at::BUFFER_LIMITED),
        unacknowledged: u32_at(at::UNACKED)?,
        selectively_acknowledged: u32_at(at::SACKED)?,
        since_sent: Duration::from_millis(u32_at(at::LAST_DATA_SENT)?.into()),
        since_received: Duration::from_millis(u32_at(at::LAST_DATA_RECEIVED)?.into()),
        is_closed: filled[at::STATE] == CLOSED,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    #[test]
    #[cfg(target_env = "gnu")]
    fn fields_are_where_the_kernel_puts_them() {
        use std::mem::offset_of;
        let theirs = [
            offset_of!(libc::tcp_info, tcpi_unacked),
            offset_of!(libc::tcp_info, tcpi_sacked),
            offset_of!(libc::tcp_info, tcpi_last_data_sent),
            offset_of!(libc::tcp_info, tcpi_last_data_recv),
            offset_of!(libc::tcp_info, tcpi_state),
            offset_of!(libc::tcp_info, tcpi_rtt),
            offset_of!(libc::tcp_info, tcpi_rttvar),
            offset_of!(libc::tcp_info, tcpi_rcv_rtt),
            offset_of!(libc::tcp_info, tcpi_total_retrans),
            offset_of!(libc::tcp_info, tcpi_bytes_acked),
            offset_of!(libc::tcp_info, tcpi_segs_out),
            offset_of!(libc::tcp_info, tcpi_min_rtt),
            offset_of!(libc::tcp_info, tcpi_delivery_rate),
            offset_of!(libc::tcp_info, tcpi_busy_time),
            offset_of!(libc::tcp_info, tcpi_rwnd_limited),
            offset_of!(libc::tcp_info, tcpi_sndbuf_limited),
            offset_of!(libc::tcp_info, tcpi_snd_rcv_wscale) + 1,
        ];
        let ours = [
            at::UNACKED,
            at::SACKED,
            at::LAST_DATA_SENT,
            at::LAST_DATA_RECEIVED,
            at::STATE,
            at::RTT,
            at::RTT_VARIATION,
            at::RECEIVER_RTT,
            at::TOTAL_RETRANSMITS,
            at::ACKNOWLEDGED,
            at::SEGMENTS_OUT,
            at::MIN_RTT,
            at::DELIVERY_RATE,
            at::BUSY,
            at::WINDOW_LIMITED,
            at::BUFFER_LIMITED,
            at::FLAGS,
        ];
        assert_eq!(ours, theirs);
    }

    #[test]
    fn a_connection_over_loopback_has_a_short_rtt_and_no_retransmits() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let mut client = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it listens");
        let (mut server, _) = listener.accept().expect("the client connects");
        for _ in 0..10 {
            client.write_all(b"ping").expect("it is open");
            server.read_exact(&mut [0; 4]).expect("it is open");
            server.write_all(b"pong").expect("it is open");
            client.read_exact(&mut [0; 4]).expect("it is open");
        }
        let info = tcp_info(&client).expect("it is a TCP socket");
        assert!(info.min_rtt.is_some_and(|rtt| rtt < Duration::from_millis(5)), "{info:?}");
        assert!(info.rtt >= info.min_rtt && info.segments.is_some_and(|segments| segments >= 10), "{info:?}");
        assert_eq!(info.retransmits, 0, "{info:?}");
        // The first byte of a connection is its SYN.
        assert!(info.acknowledged.is_some_and(|bytes| bytes == 40 || bytes == 41), "{info:?}");
        assert!(info.busy.is_some() && info.window_limited.is_some() && info.buffer_limited.is_some(), "{info:?}");
    }

    #[test]
    fn a_listener_has_the_length_of_its_accept_queue() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let _waiting = [(); 3].map(|()| TcpStream::connect(address).expect("it listens"));
        let deadline = Instant::now() + Duration::from_secs(5);
        let mut info = TcpInfo::default();
        while info.unacknowledged < 3 && Instant::now() < deadline {
            info = tcp_info(&listener).expect("it is a TCP socket");
        }
        assert!(info.unacknowledged == 3 && info.selectively_acknowledged > 3, "{info:?}");
    }

    #[test]
    fn other_sockets_have_no_tcp_info() {
        let (one, _other) = UnixStream::pair().expect("there is room for descriptors");
        assert_eq!(tcp_info(&one), None);
    }

    #[test]
    fn fields_that_an_old_kernel_lacks_are_absent_and_not_zero() {
        let mut filled = [0; BUFFER];
        filled[at::RTT..][..4].copy_from_slice(&700_u32.to_ne_bytes());
        filled[at::MIN_RTT..][..4].copy_from_slice(&u32::MAX.to_ne_bytes());
        assert_eq!(read(&filled[..MIN_LENGTH - 1]), None);
        let old = read(&filled[..MIN_LENGTH]).expect("it is enough");
        let rtt = Some(Duration::from_micros(700));
        assert_eq!(old, TcpInfo { rtt, ..TcpInfo::default() });
        let new = read(&filled).expect("it is enough");
        let none = Some(Duration::ZERO);
        let spent = TcpInfo { busy: none, window_limited: none, buffer_limited: none, ..old };
        assert_eq!(
            new,
            TcpInfo { segments: Some(0), acknowledged: Some(0), ..spent },
            "times that were not measured are absent"
        );
    }
}
