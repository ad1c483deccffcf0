//! Calls of the router on threads beside the workers, for routes that compute.
//!
//! The thread drives the call's future from its beginning to its end, so that the future need not be `Send`, in the context of the
//! runtime in which the worker would have polled it.

use super::blocking_pool::{Admission, BlockingPool, Called, Done};
use super::router::DetachedCall;
use super::worker_app::WorkerApp;
use crate::computing::MovedRoute;
use crate::message::hyper_response::BoxBody;
use crate::message::request_body::RequestBody;
use crate::observe::metrics_table::Count;
use crate::observe::notice;
use http::Request;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::time::Instant;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use torr_net::{Nanos, clock};

/// A call that has its place in the pool.
pub(crate) struct MovedCall {
    admission: Admission,
    runtime: Handle,
    router_call: DetachedCall,
    /// `None` where the application named the path.
    route: Option<MovedRoute>,
}

impl MovedCall {
    /// Returns a call of the router. `None` if the pool's queue is full, or half of its threads are taken by calls that only wait.
    pub fn admit(app: &WorkerApp, route: Option<MovedRoute>) -> Option<Self> {
        let (router, runtime) = (app.router.as_ref()?, Handle::try_current().ok()?);
        let admission = app.computing_pool.admit().filter(|_| !app.computing_pool.is_stuck())?;
        Some(Self { admission, runtime, router_call: router.detached(), route })
    }

    /// Calls the router on a thread of the pool, and returns what `finish` makes of the response there: `None` if the handler
    /// panicked. Dropping the returned future drops the handler's, at once or when it next waits.
    pub fn run<T: Send + 'static>(
        self,
        app: &WorkerApp,
        request: Request<RequestBody>,
        finish: impl FnOnce(http::Response<BoxBody>) -> T + Send + 'static,
    ) -> impl Future<Output = Option<T>> + 'static {
        let Self { admission, runtime, router_call, route } = self;
        let pool = app.computing_pool.clone();
        app.counts.add(Count::Blocked, 1);
        app.counts.add(Count::Moved, 1);
        let (counts, queued) = (app.counts.clone(), Instant::now());
        let (done, of_waiting) = (Done::new(counts.clone()), pool.clone());
        let (wanted, dropped) = oneshot::channel::<()>();
        let job = move || {
            let _done = done;
            counts.add(Count::BlockedWait, clock::nanos(queued.elapsed()));
            let work = async {
                let mut longest = 0;
                let finished = tokio::select! {
                    biased;
                    _ = dropped => None,
                    response = timed(router_call(request), &mut longest, &of_waiting) => Some(finish(response)),
                };
                (finished, longest)
            };
            match catch_unwind(AssertUnwindSafe(|| runtime.block_on(work))) {
                Ok((finished, longest)) => {
                    // A call that was dropped tells nothing.
                    route.filter(|_| finished.is_some()).into_iter().for_each(|route| route.took(longest));
                    finished
                }
                Err(_) => {
                    counts.add(Count::Panicked, 1);
                    notice::failure(format_args!("a handler panicked"));
                    None
                }
            }
        };
        let mut called = Called(pool.run_admitted(admission, job));
        async move {
            let _wanted = wanted;
            (&mut called.0).await.unwrap_or_default()
        }
    }
}

/// Waits for a future's output. Notes the longest of its polls, and in the pool that the future waits.
async fn timed<F: Future>(future: F, longest: &mut Nanos, pool: &BlockingPool) -> F::Output {
    let (mut future, mut waiting) = (pin!(future), None);
    poll_fn(|cx| {
        waiting = None;
        let begin = clock::exact();
        let output = future.as_mut().poll(cx);
        *longest = (*longest).max(clock::exact().saturating_sub(begin));
        waiting = output.is_pending().then(|| pool.wait());
        output
    })
    .await
}
