//! The thread that carries the sockets of a run: WebSockets, connections of gRPC, and event streams.

use super::events::{Carried, EventRequest, StreamHandle};
use super::grpc::{self, GrpcConnection};
use super::handle::{FarEnd, SocketHandle};
use super::known::{Known, Ways};
use super::mail::SocketEvent;
use super::opening::Opening;
use super::outlet::Outlet;
use super::session;
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Instant;
use std::{fmt, io, thread};
use tokio::sync::mpsc;
use tokio::task::{JoinSet, LocalSet};
use torr_press::MessageCodecs;

/// The thread that carries the sockets of a run. It ends soon after this value, and cuts off what is open then.
pub struct Carrier(mpsc::UnboundedSender<Job>);

impl fmt::Debug for Carrier {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Carrier").finish_non_exhaustive()
    }
}

/// What is on its way to the thread.
enum Job {
    /// A WebSocket.
    Socket(Opening, Outlet, FarEnd),
    /// A connection of gRPC.
    Grpc(Box<grpc::Connect>),
    /// An event stream.
    Stream(Box<Carried>),
}

impl Carrier {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system has no thread or no poller for it.
    pub fn start(ways: Ways, sources: Vec<IpAddr>) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let (sender, mut jobs) = mpsc::unbounded_channel::<Job>();
        thread::Builder::new().name("torr-sockets".to_owned()).spawn(move || {
            let known = Rc::new(Known::new(ways, sources));
            let codecs = Rc::new(RefCell::new(MessageCodecs::default()));
            LocalSet::new().block_on(&runtime, async {
                let mut carried = JoinSet::new();
                loop {
                    tokio::select! {
                        Some(_) = carried.join_next() => {}
                        job = jobs.recv() => {
                            let Some(job) = job else { break };
                            let known = known.clone();
                            match job {
                                Job::Socket(opening, outlet, far) => {
                                    carried.spawn_local(carry(opening, outlet, far, known, codecs.clone()))
                                }
                                Job::Grpc(connect) => carried.spawn_local(connect.run(known)),
                                Job::Stream(stream) => carried.spawn_local(stream.run(known)),
                            };
                        }
                    }
                }
                // Sockets that were left still send what they have to send, a close frame among it.
                let left = async { while carried.join_next().await.is_some() {} };
                let _ = tokio::time::timeout(session::LEAVING, left).await;
            });
            runtime.shutdown_background();
        })?;
        Ok(Self(sender))
    }

    /// Opens a socket, whose events go to an outlet.
    #[must_use]
    pub fn open(&self, opening: Opening, outlet: Outlet) -> SocketHandle {
        let (handle, far) = SocketHandle::new();
        // Without its thread the socket has no event; the thread lives as long as this value.
        let _ = self.0.send(Job::Socket(opening, outlet, far));
        handle
    }

    /// Opens a connection of gRPC, whose events go to an outlet.
    #[must_use]
    pub fn connect(&self, opening: grpc::Opening, outlet: Outlet) -> GrpcConnection {
        let (connection, end) = GrpcConnection::new();
        let _ = self.0.send(Job::Grpc(Box::new(grpc::Connect { opening, outlet, end })));
        connection
    }
}

impl Carrier {
    /// Sends a request, the events of whose response go to an outlet.
    #[must_use]
    pub fn stream(&self, request: EventRequest, outlet: Outlet) -> StreamHandle {
        let (handle, carried) = Carried::new(request, outlet);
        let _ = self.0.send(Job::Stream(Box::new(carried)));
        handle
    }
}

/// Carries a WebSocket from its handshake to its end.
async fn carry(opening: Opening, outlet: Outlet, far: FarEnd, known: Rc<Known>, codecs: Rc<RefCell<MessageCodecs>>) {
    let FarEnd { mut commands, counts, mut gone } = far;
    let began = Instant::now();
    let id = opening.id;
    let opened = async {
        let destination = known.websocket(&opening.origin).await?;
        let source = known.source(opening.user);
        session::open(&opening, &destination, source, counts.clone(), codecs, began).await
    };
    let opened = tokio::select! {
        opened = tokio::time::timeout(opening.timeout, opened) => {
            opened.unwrap_or_else(|_| Err("i/o timeout".to_owned()))
        }
        _ = &mut gone => return,
    };
    let refused = |response, why| SocketEvent::Refused { took: began.elapsed(), response, why };
    let mut session = match opened {
        Ok(session::Opened::Open(session, response)) => {
            if !outlet.hand_over(id, SocketEvent::Opened(response)).await {
                return;
            }
            session
        }
        Ok(session::Opened::Refused(response, why)) => {
            outlet.hand_over(id, refused(Some(response), why)).await;
            return;
        }
        Err(why) => {
            outlet.hand_over(id, refused(None, why)).await;
            return;
        }
    };
    let ended = tokio::select! {
        close = session.run(id, &mut commands, &outlet) => close,
        _ = gone => None,
    };
    match ended {
        Some(close) => {
            outlet.hand_over(id, SocketEvent::Closed(close)).await;
        }
        None => session.leave(&mut commands).await,
    }
}
