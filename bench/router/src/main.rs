//! The application of the routers' scenarios on one thread: `torr-bench-router HOST ADDRESS [CERTIFICATE KEY]`.
//!
//! HOST says who serves it: `torr` and `axum` the same router, `async` two handlers of `App::get_async`. `line` and `axum-line`
//! serve a router with a handler that computes, on all CPUs.
#![forbid(unsafe_code)]

mod computing;
mod pages;

use std::error::Error;
use std::net::SocketAddr;

use axum::serve::ListenerExt;
use tokio::net::TcpSocket;
use torr_serve::{App, Response, Server, Settings, TlsSettings};

type Done = Result<(), Box<dyn Error>>;

fn main() -> Done {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["torr", address] => torr(App::new().router(pages::router()), address, None),
        ["torr", address, certificate, key] => {
            torr(App::new().router(pages::router()), address, Some(TlsSettings::new(certificate, key)))
        }
        ["async", address] => torr(waiting(), address, None),
        ["axum", address] => axum(address.parse()?),
        ["line", address] => computing::serve(address, true),
        ["axum-line", address] => computing::serve(address, false),
        _ => {
            Err("usage: torr-bench-router torr|async|axum|line|axum-line ADDRESS, or torr ADDRESS CERTIFICATE KEY"
                .into())
        }
    }
}

/// Handlers that may wait, without a router.
fn waiting() -> App {
    App::new().get_async("/", |_| async { Response::html(pages::HELLO) }).get_async("/pending", |_| async {
        tokio::task::yield_now().await;
        Response::html(pages::HELLO)
    })
}

/// An application on our own engine, with one worker.
fn torr(app: App, address: &str, tls: Option<TlsSettings>) -> Done {
    let mut settings = Settings::default();
    (settings.workers, settings.tls) = (1, tls);
    Ok(Server::new(app).settings(settings).bind(address)?.run_until_signal()?)
}

/// The router as axum serves it: on a runtime of one thread, with our backlog and without Nagle's algorithm, as all have it.
fn axum(address: SocketAddr) -> Done {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        let listener = socket.listen(4096)?.tap_io(|connection| {
            let _ = connection.set_nodelay(true); // one that is gone already
        });
        Ok(axum::serve(listener, pages::router()).await?)
    })
}
