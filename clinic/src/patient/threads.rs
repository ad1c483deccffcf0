//! A server of blocking threads: each serves a connection until that ends.

use super::http::{Answer, Request, Visitor};
use super::listener::{self, Door};
use super::wire::{Then, Wire};
use super::work::{Does, Work};
use crate::error::Error;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

/// Serves with so many threads, or one for each connection.
///
/// # Errors
/// If a handler wants an event loop, or nothing can be accepted any more.
pub fn serve(door: &Door, most: Option<usize>, work: Work, wire: &Arc<Wire>) -> Result<(), Error> {
    if !work.is_at_once() {
        return Err(Error::Usage("this work wants a server with a loop".into()));
    }
    match most {
        None => accept(door, |stream| {
            let (work, wire) = (work.clone(), wire.clone());
            thread::spawn(move || attend(stream, &work, &wire));
        }),
        Some(most) => {
            let (give, take) = std::sync::mpsc::sync_channel::<TcpStream>(0);
            let take = Arc::new(Mutex::new(take));
            for _ in 0..most {
                let (take, work, wire) = (take.clone(), work.clone(), wire.clone());
                thread::spawn(move || {
                    loop {
                        let next = take.lock().expect("nobody panics who holds it").recv();
                        let Ok(stream) = next else { return };
                        attend(stream, &work, &wire);
                    }
                });
            }
            accept(door, |stream| give.send(stream).expect("the threads stay"))
        }
    }
}

fn accept(door: &Door, mut serve: impl FnMut(TcpStream)) -> Result<(), Error> {
    loop {
        let (stream, _) = door.listener.accept()?;
        door.greet(&stream);
        serve(stream);
        if let Some(every) = door.every {
            thread::sleep(every);
        }
    }
}

/// Serves a connection. How it ends is the client's affair.
fn attend(stream: TcpStream, work: &Work, wire: &Wire) {
    let _ = converse(stream, work, wire);
}

fn converse(mut stream: TcpStream, work: &Work, wire: &Wire) -> io::Result<()> {
    let Some(address) = listener::peer(&stream) else { return Ok(()) };
    let visitor = Arc::new(Visitor { address, next: Mutex::new(Instant::now()) });
    let (mut received, mut chunk) = (Vec::new(), [0; 4096]);
    for answered in 0.. {
        let request = loop {
            if let Some(request) = Request::take(&mut received, &visitor) {
                break request;
            }
            match stream.read(&mut chunk)? {
                0 => return Ok(()),
                read => received.extend_from_slice(&chunk[..read]),
            }
        };
        let answer = work.of(&request).map_or_else(Answer::hello, |does: &Does| does.on_the_spot(&request));
        let (parts, then) = wire.reply(&request, answered, &answer);
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
