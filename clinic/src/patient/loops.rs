//! A server of event loops, which does its work itself or has threads for it.

use super::http::{Answer, Request, Visitor};
use super::listener::{self, Door};
use super::pool::Workers;
use super::wire::{Then, Wire};
use super::work::{Does, Work};
use crate::error::Error;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

/// Serves on so many loops; `workers` do the work if there are any.
///
/// # Errors
/// If the loops cannot be made, or nothing can be accepted any more.
pub fn serve(door: Door, threads: usize, workers: Option<usize>, work: Work, wire: &Arc<Wire>) -> Result<(), Error> {
    if workers.is_some() && !work.is_at_once() {
        return Err(Error::Usage("this work wants no pool".into()));
    }
    let workers = workers.map(|many| Workers::start(many, &work));
    runtime(threads)?.block_on(async {
        door.listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(door.listener.try_clone()?)?;
        loop {
            let (stream, from) = listener.accept().await?;
            door.greet(&stream);
            let visitor = Arc::new(Visitor { address: from.ip(), next: Mutex::new(Instant::now()) });
            let (work, wire, workers) = (work.clone(), wire.clone(), workers.clone());
            // How it ends is the client's affair.
            tokio::spawn(async move { converse(stream, visitor, &work, &wire, workers.as_ref()).await });
            if let Some(every) = door.every {
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

async fn converse(
    mut stream: TcpStream,
    visitor: Arc<Visitor>,
    work: &Work,
    wire: &Wire,
    workers: Option<&Workers>,
) -> io::Result<()> {
    let mut received = Vec::with_capacity(1024);
    for answered in 0.. {
        let request = loop {
            if let Some(request) = Request::take(&mut received, &visitor) {
                break request;
            }
            if stream.read_buf(&mut received).await? == 0 {
                return Ok(());
            }
        };
        let (request, answer) = answer(request, work, workers).await;
        let (parts, then) = wire.reply(&request, answered, &answer);
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

async fn answer(request: Request, work: &Work, workers: Option<&Workers>) -> (Request, Answer) {
    match (work.of(&request), workers) {
        (None, _) => (request, Answer::hello()),
        (Some(_), Some(workers)) => workers.answer(request).await,
        (Some(Does::AtOnce(does)), None) => {
            let answer = does(&request);
            (request, answer)
        }
        (Some(Does::Later(does)), None) => {
            let answer = does(&request).await;
            (request, answer)
        }
    }
}
