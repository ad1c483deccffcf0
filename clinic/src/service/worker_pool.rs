//! Worker threads that call handlers for an event loop.

use super::http::{Request, Response};
use super::route::Route;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use tokio::sync::oneshot;

type Task = (Request, oneshot::Sender<(Request, Response)>);

/// The queue of the worker threads.
#[derive(Clone)]
pub struct Workers(mpsc::Sender<Task>);

impl Workers {
    /// Starts `count` worker threads.
    pub fn start(count: usize, route: &Route) -> Self {
        let (give, take) = mpsc::channel::<Task>();
        let take = Arc::new(Mutex::new(take));
        for _ in 0..count {
            let (take, route) = (take.clone(), route.clone());
            thread::spawn(move || {
                loop {
                    let next = take.lock().expect("no holder panics").recv();
                    let Ok((request, done)) = next else { return };
                    let response =
                        route.of(&request).map_or_else(Response::hello, |handler| handler.on_the_spot(&request));
                    // The connection may have been closed meanwhile.
                    let _ = done.send((request, response));
                }
            });
        }
        Self(give)
    }

    /// Queues a request, and returns its response.
    pub async fn respond(&self, request: Request) -> (Request, Response) {
        let (done, response) = oneshot::channel();
        self.0.send((request, done)).expect("worker threads never end");
        response.await.expect("worker threads never end")
    }
}
