//! Threads that do a loop's work for it, one request each at a time.

use super::http::{Answer, Request};
use super::work::Work;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use tokio::sync::oneshot;

type Task = (Request, oneshot::Sender<(Request, Answer)>);

/// A queue, and those who work it off.
#[derive(Clone)]
pub struct Workers(mpsc::Sender<Task>);

impl Workers {
    /// So many.
    pub fn start(many: usize, work: &Work) -> Self {
        let (give, take) = mpsc::channel::<Task>();
        let take = Arc::new(Mutex::new(take));
        for _ in 0..many {
            let (take, work) = (take.clone(), work.clone());
            thread::spawn(move || {
                loop {
                    let next = take.lock().expect("nobody panics who holds it").recv();
                    let Ok((request, done)) = next else { return };
                    let answer = work.of(&request).map_or_else(Answer::hello, |does| does.on_the_spot(&request));
                    // Who has asked may have left.
                    let _ = done.send((request, answer));
                }
            });
        }
        Self(give)
    }

    /// Has a request answered when its turn comes.
    pub async fn answer(&self, request: Request) -> (Request, Answer) {
        let (done, answer) = oneshot::channel();
        self.0.send((request, done)).expect("the threads stay");
        answer.await.expect("the threads stay")
    }
}
