//! Worker threads that call handlers for an event loop.

use super::http::{Request, Response};
use super::route::Route;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use tokio::sync::oneshot;

type Task = (Request, oneshot::Sender<(Request, Response)>);

/// The queue of the worker threads.
#[derive(Clone)]
pub struct Workers {
    queue: mpsc::Sender<Task>,
    /// The requests that the workers have or that are queued.
    requests: Arc<AtomicUsize>,
    /// The most of these, above which requests fail at once.
    most: usize,
}

impl Workers {
    /// Starts `count` worker threads with a queue, which is unbounded by default.
    pub fn start(count: usize, route: &Route, queue: Option<usize>) -> Self {
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
        let most = queue.map_or(usize::MAX, |queue| count + queue);
        Self { queue: give, requests: Arc::default(), most }
    }

    /// Queues a request, and returns its response: 500 if the queue is full.
    pub async fn respond(&self, request: Request) -> (Request, Response) {
        if self.requests.fetch_add(1, Ordering::Relaxed) >= self.most {
            self.requests.fetch_sub(1, Ordering::Relaxed);
            return (request, Response::status(500));
        }
        let (done, response) = oneshot::channel();
        self.queue.send((request, done)).expect("worker threads never end");
        let responded = response.await.expect("worker threads never end");
        self.requests.fetch_sub(1, Ordering::Relaxed);
        responded
    }
}
