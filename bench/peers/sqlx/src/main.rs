//! What `torr serve` answers from a database, on axum with one thread: `sqlx-peer ADDRESS URL CONNECTIONS`.
//!
//! `/db/raw` and the like go by sqlx, `/db/model` by SeaORM, each with a pool of its own. The tables are there already.
#![forbid(unsafe_code)]

mod orm;
mod plain;
mod rows;

use axum::serve::ListenerExt;
use std::error::Error;
use std::net::SocketAddr;
use tokio::net::TcpSocket;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [address, url, connections] = &args[..] else { return Err("usage: sqlx-peer ADDRESS URL CONNECTIONS".into()) };
    let (address, connections): (SocketAddr, u32) = (address.parse()?, connections.parse()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let routes = plain::router(url, connections).await?.merge(orm::router(url, connections).await?);
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        let listener = socket.listen(4096)?.tap_io(|connection| {
            let _ = connection.set_nodelay(true); // one that is gone already
        });
        Ok(axum::serve(listener, routes).await?)
    })
}
