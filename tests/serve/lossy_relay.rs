//! A path that loses and reorders datagrams, without a kernel that has netem: a relay in front of a server.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The part of datagrams that are lost, and of those that the next one overtakes.
const LOST: f64 = 0.02;
const OVERTAKEN: f64 = 0.02;
/// The time for which a datagram waits for one that overtakes it.
const WAIT: Duration = Duration::from_millis(5);

/// The relay of one client. It ends with this value.
pub struct LossyRelay {
    pub address: SocketAddr,
    /// The numbers of lost and of overtaken datagrams.
    pub counts: Arc<[AtomicU64; 2]>,
    ends: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl LossyRelay {
    /// Begins to relay to a server.
    pub fn start(server: SocketAddr) -> Self {
        let [front, back] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").expect("a port is free"));
        let address = front.local_addr().expect("it is bound");
        back.connect(server).expect("a socket can be connected");
        for socket in [&front, &back] {
            socket.set_read_timeout(Some(WAIT)).expect("a socket takes options");
        }
        let (front, back, client) = (Arc::new(front), Arc::new(back), Arc::new(Mutex::new(None)));
        let (counts, ends) = (Arc::<[AtomicU64; 2]>::default(), Arc::<AtomicBool>::default());
        let there = {
            let (front, back, client) = (Arc::clone(&front), Arc::clone(&back), Arc::clone(&client));
            let receive = move |room: &mut [u8]| {
                let (length, from) = front.recv_from(room)?;
                *client.lock().expect("no thread panics with it") = Some(from);
                Ok(length)
            };
            (1, Box::new(receive) as Receive, Box::new(move |datagram: &[u8]| back.send(datagram)) as Send)
        };
        let back_again = {
            let send = move |datagram: &[u8]| match *client.lock().expect("no thread panics with it") {
                Some(client) => front.send_to(datagram, client),
                None => Ok(0),
            };
            (2, Box::new(move |room: &mut [u8]| back.recv(room)) as Receive, Box::new(send) as Send)
        };
        let threads = [there, back_again].map(|(seed, receive, send)| {
            let (counts, ends) = (Arc::clone(&counts), Arc::clone(&ends));
            thread::spawn(move || relay(seed, receive, send, &counts, &ends))
        });
        Self { address, counts, ends, threads: threads.into() }
    }
}

type Receive = Box<dyn FnMut(&mut [u8]) -> io::Result<usize> + std::marker::Send>;
type Send = Box<dyn FnMut(&[u8]) -> io::Result<usize> + std::marker::Send>;

/// Relays in one direction.
fn relay(seed: u64, mut receive: Receive, mut send: Send, counts: &[AtomicU64; 2], ends: &AtomicBool) {
    let (mut chance, mut room) = (fastrand::Rng::with_seed(seed), [0; 65_536]);
    let mut overtaken: Option<Vec<u8>> = None;
    while !ends.load(Ordering::Relaxed) {
        // An error is a time-out, or that a datagram before met a port that is closed.
        let arrived = receive(&mut room).ok();
        if let Some(length) = arrived {
            let fate = chance.f64();
            if fate < LOST {
                counts[0].fetch_add(1, Ordering::Relaxed);
                continue;
            }
            if fate < LOST + OVERTAKEN && overtaken.is_none() {
                counts[1].fetch_add(1, Ordering::Relaxed);
                overtaken = Some(room[..length].to_vec());
                continue;
            }
            let _ = send(&room[..length]);
        }
        if let Some(late) = overtaken.take() {
            let _ = send(&late);
        }
    }
}

impl Drop for LossyRelay {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
