//! A server of blocking threads, each of which serves one connection until that ends.

use super::handler::Handler;
use super::http::{Client, Request, Response};
use super::listener::{self, Listener};
use super::response::{ResponseMode, Then};
use super::route::Route;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;
use torr_test_support::error::Error;

/// Serves with `most` threads, or one for each connection.
///
/// # Errors
/// If the handler needs an event loop, or accepting fails.
pub fn serve(listener: &Listener, most: Option<usize>, route: Route, mode: &Arc<ResponseMode>) -> Result<(), Error> {
    if !route.is_at_once() {
        return Err(Error::Usage("this handler needs a server with an event loop".into()));
    }
    match most {
        None => accept(listener, |stream| {
            let (route, mode) = (route.clone(), mode.clone());
            thread::spawn(move || serve_until_closed(stream, &route, &mode));
        }),
        Some(most) => {
            let (give, take) = std::sync::mpsc::sync_channel::<TcpStream>(0);
            let take = Arc::new(Mutex::new(take));
            for _ in 0..most {
                let (take, route, mode) = (take.clone(), route.clone(), mode.clone());
                thread::spawn(move || {
                    loop {
                        let next = take.lock().expect("no holder panics").recv();
                        let Ok(stream) = next else { return };
                        serve_until_closed(stream, &route, &mode);
                    }
                });
            }
            accept(listener, |stream| give.send(stream).expect("threads never end"))
        }
    }
}

fn accept(listener: &Listener, mut serve: impl FnMut(TcpStream)) -> Result<(), Error> {
    loop {
        let (stream, _) = listener.socket.accept()?;
        listener.configure(&stream);
        serve(stream);
        if let Some(every) = listener.every {
            thread::sleep(every);
        }
    }
}

/// Serves a connection. A connection that fails is the client's to report.
fn serve_until_closed(stream: TcpStream, route: &Route, mode: &ResponseMode) {
    let _ = serve_connection(stream, route, mode);
}

fn serve_connection(mut stream: TcpStream, route: &Route, mode: &ResponseMode) -> io::Result<()> {
    let Some(address) = listener::peer(&stream) else { return Ok(()) };
    let client = Arc::new(Client { address, next: Mutex::new(Instant::now()) });
    let (mut received, mut chunk) = (Vec::new(), [0; 4096]);
    for sent in 0.. {
        let request = loop {
            if let Some(request) = Request::decode(&mut received, &client) {
                break request;
            }
            match stream.read(&mut chunk)? {
                0 => return Ok(()),
                read => received.extend_from_slice(&chunk[..read]),
            }
        };
        let response =
            route.of(&request).map_or_else(Response::hello, |handler: &Handler| handler.on_the_spot(&request));
        let (parts, then) = mode.encode(&request, sent, &response);
        for part in parts {
            stream.write_all(&part)?;
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
