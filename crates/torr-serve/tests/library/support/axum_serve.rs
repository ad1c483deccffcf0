//! `axum::serve` on a thread: hyper, as most services have it.

use axum::Router;
use axum::serve::ListenerExt;
use std::net::{SocketAddr, TcpListener};
use std::thread::{self, JoinHandle};
use tokio::sync::oneshot;

/// One server, which ends with this value.
pub struct AxumServe {
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl AxumServe {
    pub fn start(router: Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        listener.set_nonblocking(true).expect("a socket takes options");
        let address = listener.local_addr().expect("it is bound");
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it starts");
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).expect("it listens");
                // A client that has gone already is no matter of this server's.
                let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
                let service = router.into_make_service_with_connect_info::<SocketAddr>();
                tokio::select! {
                    ended = axum::serve(listener, service) => panic!("axum::serve ended: {ended:?}"),
                    _ = stopped => {}
                }
            });
        });
        Self { address, stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for AxumServe {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
