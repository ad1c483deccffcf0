//! The life of a connection on the thread of the sockets.

use super::call::{CallEnd, GrpcEvent, Opening};
use super::exchange::Exchange;
use super::handle::{CallFarEnd, CallJob, ConnectionEnd};
use super::link::Link;
use super::status::Fault;
use crate::sockets::known::Known;
use crate::sockets::outlet::Outlet;
use std::future::pending;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::spawn_local;

/// The time after which a call without one has failed.
const FOREVER: Duration = Duration::from_secs(86_400 * 365);

/// A connection on its way to the thread.
pub(in crate::sockets) struct Connect {
    pub opening: Opening,
    pub outlet: Outlet,
    pub end: ConnectionEnd,
}

impl Connect {
    /// Opens the connection, and makes its calls until the script has closed it.
    pub async fn run(self, known: Rc<Known>) {
        let Self { opening, outlet, end: ConnectionEnd { mut jobs, counts, mut closing } } = self;
        let (id, timeout) = (opening.id, opening.timeout);
        let link = Rc::new(Link::new(opening, known, counts));
        let opened = tokio::select! {
            opened = tokio::time::timeout(timeout, link.sender()) => opened.unwrap_or_else(|_| Err(Fault::deadline())),
            () = closed(&mut closing) => return,
            // No user waits for the connection any more.
            _ = jobs.recv() => return,
        };
        let event = match opened {
            Ok(_) => GrpcEvent::Connected,
            Err(fault) => GrpcEvent::Unconnected(fault.text),
        };
        let has_opened = matches!(event, GrpcEvent::Connected);
        if !outlet.hand_over(id, event).await || !has_opened {
            return;
        }
        while let Some(job) = jobs.recv().await {
            spawn_local(call(job, link.clone(), closing.clone()));
        }
    }
}

/// Waits until the script closes the connection.
async fn closed(closing: &mut watch::Receiver<bool>) {
    if closing.wait_for(|is_closing| *is_closing).await.is_err() {
        // The script has let go of the connection, whose calls go on.
        pending::<()>().await;
    }
}

/// Makes a call, and hands over its end.
async fn call(job: CallJob, link: Rc<Link>, mut closing: watch::Receiver<bool>) {
    let CallJob { call, outlet, end: CallFarEnd { mut messages, unsent, gone } } = job;
    let mut exchange = Exchange { link: &link, call: &call, outlet: &outlet, end: CallEnd::default() };
    let deadline = call.timeout.map_or(FOREVER, |timeout| timeout.saturating_sub(call.began.elapsed()));
    let fault = tokio::select! {
        ran = tokio::time::timeout(deadline, exchange.run(&mut messages, &unsent)) => ran.err().map(|_| Fault::deadline()),
        () = closed(&mut closing) => Some(Fault::canceled()),
        // No user waits for the end.
        _ = gone => return,
    };
    if let Some(fault) = fault {
        exchange.fail(fault);
    }
    let mut end = exchange.end;
    end.took = call.began.elapsed();
    outlet.hand_over(call.id, GrpcEvent::Ended(Box::new(end))).await;
}
