//! A proxy of TCP whose connections can all be cut, as those of a link that fails.

use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use torr_test_support::error::Error;

/// A proxy on a loopback port of its own, which lasts as long as this program.
pub struct Link {
    /// Port on the loopback.
    pub port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    is_cut: AtomicBool,
    /// Connections from clients, beside some that have ended.
    clients: Mutex<Vec<TcpStream>>,
}

impl Link {
    /// Begins to pass on connections to another loopback port.
    pub fn start(to: u16) -> Result<Self, Error> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (port, state) = (listener.local_addr()?.port(), Arc::new(State::default()));
        let shared = state.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let _ = shared.pass_on(client, to); // the client sees the end of its connection
            }
        });
        Ok(Self { port, state })
    }

    /// Ends all connections; further ones end at once until the link is mended.
    pub fn cut(&self) {
        self.state.is_cut.store(true, Ordering::SeqCst);
        for client in self.state.clients().drain(..) {
            let _ = client.shutdown(Shutdown::Both);
        }
    }

    /// Passes connections on again.
    pub fn mend(&self) {
        self.state.is_cut.store(false, Ordering::SeqCst);
    }
}

impl State {
    fn clients(&self) -> std::sync::MutexGuard<'_, Vec<TcpStream>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass_on(&self, client: TcpStream, to: u16) -> std::io::Result<()> {
        let mut clients = self.clients();
        if self.is_cut.load(Ordering::SeqCst) {
            return Ok(());
        }
        let server = TcpStream::connect((Ipv4Addr::LOCALHOST, to))?;
        for stream in [&client, &server] {
            stream.set_nodelay(true)?;
        }
        clients.retain(|client| client.peer_addr().is_ok());
        clients.push(client.try_clone()?);
        relay(client.try_clone()?, server.try_clone()?);
        relay(server, client);
        Ok(())
    }
}

/// Copies one direction on a thread of its own, and then ends both connections.
fn relay(mut from: TcpStream, mut to: TcpStream) {
    thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to); // however it ends, the connection does
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    });
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn a_cut_ends_connections_until_the_link_is_mended() {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let link = Link::start(server.local_addr().expect("it is bound").port()).expect("a free port");
        let exchange = || -> std::io::Result<TcpStream> {
            let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, link.port))?;
            client.write_all(b"x")?;
            let mut byte = [0];
            server.accept()?.0.read_exact(&mut byte)?;
            assert_eq!(&byte, b"x");
            Ok(client)
        };
        exchange().expect("it is passed on");
        link.cut();
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, link.port)).expect("the proxy still listens");
        assert_eq!(client.read(&mut [0; 1]).unwrap_or(0), 0);
        link.mend();
        exchange().expect("it is passed on again");
    }
}
