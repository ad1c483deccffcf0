//! A router with a handler that computes, by the same line under both servers.

use std::hint::black_box;
use std::time::Instant;

use axum::Router;
use axum::extract::Path;
use axum::routing::get;
use tokio::net::TcpListener;

use crate::{Done, pages};

/// The number of steps of which the time is measured.
const STEPS: u64 = 50_000_000;

/// Serves on all CPUs: by `torr_serve::serve` if this `is_ours`, otherwise by `axum::serve`.
pub fn serve(address: &str, is_ours: bool) -> Done {
    let begin = Instant::now();
    work(STEPS);
    let steps_per_ms = (STEPS as f64 / (begin.elapsed().as_secs_f64() * 1000.0)) as u64;
    let compute = async move |Path(ms): Path<u64>| {
        work(ms * steps_per_ms);
        "computed"
    };
    let router: Router = pages::router().route("/compute/{ms}", get(compute));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(address).await?;
        match is_ours {
            true => Ok(torr_serve::serve(listener, router).await?),
            false => Ok(axum::serve(listener, router).await?),
        }
    })
}

/// Takes the same CPU time for the same number of steps.
fn work(steps: u64) -> u64 {
    (0..steps).fold(1, |value, step| black_box(value ^ step))
}
