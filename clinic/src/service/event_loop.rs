//! A server of event loops, which call handlers themselves or have worker threads for that.

use super::handler::Handler;
use super::http::{Client, Request, Response};
use super::listener::{self, Listener};
use super::response::{ResponseMode, Then};
use super::route::Route;
use super::worker_pool::Workers;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use torr_test_support::error::Error;

/// Serves on `threads` event loops. Handlers are called by `workers` threads with a queue of a length, if a number is given.
///
/// # Errors
/// If the event loops cannot be created, or accepting fails.
pub fn serve(
    listener: Listener,
    threads: usize,
    workers: Option<(usize, Option<usize>)>,
    route: Route,
    mode: &Arc<ResponseMode>,
) -> Result<(), Error> {
    if workers.is_some() && !route.is_at_once() {
        return Err(Error::Usage("this handler needs an event loop, not a pool".into()));
    }
    let workers = workers.map(|(many, queue)| Workers::start(many, &route, queue));
    runtime(threads)?.block_on(async {
        listener.socket.set_nonblocking(true)?;
        let socket = TcpListener::from_std(listener.socket.try_clone()?)?;
        loop {
            let (stream, from) = socket.accept().await?;
            listener.configure(&stream);
            let client = Arc::new(Client { address: from.ip(), next: Mutex::new(Instant::now()) });
            let (route, mode, workers) = (route.clone(), mode.clone(), workers.clone());
            // A connection that fails is the client's to report.
            tokio::spawn(async move { serve_connection(stream, client, &route, &mode, workers.as_ref()).await });
            if let Some(every) = listener.every {
                tokio::time::sleep(every).await;
            }
        }
    })
}

fn runtime(threads: usize) -> io::Result<Runtime> {
    match threads {
        1 => Builder::new_current_thread().enable_all().build(),
        many => Builder::new_multi_thread().worker_threads(many).enable_all().build(),
    }
}

async fn serve_connection(
    mut stream: TcpStream,
    client: Arc<Client>,
    route: &Route,
    mode: &ResponseMode,
    workers: Option<&Workers>,
) -> io::Result<()> {
    let mut received = Vec::with_capacity(1024);
    for sent in 0.. {
        let request = loop {
            if let Some(request) = Request::decode(&mut received, &client) {
                break request;
            }
            if stream.read_buf(&mut received).await? == 0 {
                return Ok(());
            }
        };
        let (request, response) = respond(request, route, workers).await;
        let (parts, then) = mode.encode(&request, sent, &response);
        for part in parts {
            stream.write_all(&part).await?;
        }
        match then {
            Then::Keep => {}
            Then::Close => return Ok(()),
            Then::Reset => {
                listener::resets(&stream);
                return Ok(());
            }
        }
    }
    Ok(())
}

async fn respond(request: Request, route: &Route, workers: Option<&Workers>) -> (Request, Response) {
    match (route.of(&request), workers) {
        (None, _) => (request, Response::hello()),
        (Some(_), Some(workers)) => workers.respond(request).await,
        (Some(Handler::AtOnce(handler)), None) => {
            let response = handler(&request);
            (request, response)
        }
        (Some(Handler::Later(handler)), None) => {
            let response = handler(&request).await;
            (request, response)
        }
    }
}
