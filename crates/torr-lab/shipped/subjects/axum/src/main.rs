//! The paths of `torr serve` on axum: `sqlx-peer ADDRESS [URL CONNECTIONS]`, with as many threads as the variable `WORKERS`
//! says, else one.
//!
//! `/db/raw` and the like go by sqlx, `/db/model` by SeaORM, each with a pool of its own. The tables are there already.
#![forbid(unsafe_code)]

mod fortunes;
mod orm;
mod plain;
mod rows;

use axum::http::HeaderValue;
use axum::http::header::SERVER;
use axum::middleware::map_response;
use axum::response::{Html, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use serde::Serialize;
use std::error::Error;
use std::net::SocketAddr;
use tokio::net::TcpSocket;
use tokio::runtime::Builder;

#[derive(Serialize)]
struct Message {
    message: &'static str,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (address, database) = match &args[..] {
        [address] => (address, None),
        [address, url, connections] => (address, Some((url, connections.parse()?))),
        _ => return Err("usage: sqlx-peer ADDRESS [URL CONNECTIONS]".into()),
    };
    let address: SocketAddr = address.parse()?;
    let workers = std::env::var("WORKERS").ok().and_then(|workers| workers.parse().ok()).unwrap_or(1);
    let mut builder = match workers {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    let runtime = builder.worker_threads(workers).enable_all().build()?;
    runtime.block_on(async {
        let mut routes = Router::new()
            .route("/", get(async || Html("<p>Hello, world!</p>")))
            .route("/plaintext", get(async || "Hello, World!"))
            .route("/json", get(async || Json(Message { message: "Hello, World!" })));
        if let Some((url, connections)) = database {
            routes = routes.merge(plain::router(url, connections).await?).merge(orm::router(url, connections).await?);
        }
        let routes = routes
            .layer(map_response(async |response: Response| ([(SERVER, HeaderValue::from_static("axum"))], response)));
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        let listener = socket.listen(4096)?.tap_io(|connection| {
            let _ = connection.set_nodelay(true); // one that is gone already
        });
        Ok(axum::serve(listener, routes).await?)
    })
}
