//! A program under `axum::serve` and under `torr_serve::serve`, in runtimes of both flavours.

use crate::support::PATIENCE;
use axum::Router;
use axum::http::HeaderValue;
use axum::http::header::SERVER;
use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::mpsc::channel;
use std::thread;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tower_http::set_header::SetResponseHeaderLayer;

/// A runtime of `#[tokio::main]` of each flavour.
pub fn flavours() -> [Runtime; 2] {
    [Builder::new_current_thread(), Builder::new_multi_thread()]
        .map(|mut builder| builder.worker_threads(2).enable_all().build().expect("it starts"))
}

/// Runs a program's main future, which has to end.
pub fn in_time<T>(runtime: &Runtime, main: impl Future<Output = T>) -> T {
    runtime.block_on(async { timeout(PATIENCE, main).await.expect("it ends") })
}

/// A listener as most programs make theirs.
pub async fn free_port() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    (listener, address)
}

/// Runs a program under both servers in both flavours of runtime, and compares what `talk` heard. `talk` runs on a thread of its own,
/// and may drop its second argument to stop the server; its return does so too. `after` runs in `main` when the server has ended.
pub fn compare<T, S, A>(
    make: impl AsyncFn() -> (Router, S),
    talk: fn(SocketAddr, oneshot::Sender<()>) -> T,
    after: impl AsyncFn(S) -> A,
) -> (T, A)
where
    T: Debug + PartialEq + Send + 'static,
    A: Debug + PartialEq,
{
    let mut heard: Vec<(T, A)> = Vec::new();
    for is_ours in [false, true] {
        for runtime in flavours() {
            heard.push(in_time(&runtime, async {
                let (app, state) = make().await;
                // The client of these tests expects it.
                let named = SetResponseHeaderLayer::if_not_present(SERVER, HeaderValue::from_static("torr"));
                let app = app.layer(named);
                let (listener, address) = free_port().await;
                let ((stop, stopped), (tell, reported)) = (oneshot::channel(), channel());
                thread::spawn(move || tell.send(talk(address, stop)));
                let signal = async { drop(stopped.await) };
                let served = match is_ours {
                    false => axum::serve(listener, app).with_graceful_shutdown(signal).await,
                    true => torr_serve::serve(listener, app).with_graceful_shutdown(signal).await,
                };
                served.expect("it ends well");
                let after = after(state).await;
                (reported.recv_timeout(PATIENCE).expect("the client does not panic"), after)
            }));
        }
    }
    let first = heard.remove(0);
    heard.iter().for_each(|heard| assert_eq!(*heard, first));
    first
}
