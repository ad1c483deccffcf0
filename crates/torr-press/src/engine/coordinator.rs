//! The rest of a run as a load thread sees it: samples out, the stop signal in.

use torr_gauge::{Failure, Sample};

/// The run as a thread sees it. Its methods are called at samples, at first connections and on failures only.
pub(crate) trait Coordinator {
    /// Returns the number of the thread.
    fn number(&self) -> usize;

    /// Takes the sample of the interval of this number; `last` if the thread ends within it.
    fn sample(&self, interval: u64, sample: Sample, last: bool);

    /// Notes that the interval of this number has passed while the thread was held up, with this number of open connections.
    fn held_up(&self, interval: u64, open: u64);

    /// Takes the sample of the requests that were begun during the warm-up.
    fn warmup(&self, sample: Sample);

    /// Returns an empty sample.
    fn fresh_sample(&self) -> Sample;

    /// Whether the run is to end now.
    fn is_stopped(&self) -> bool;

    /// Ends the run in all threads.
    fn abort(&self);

    /// Notes that the first connection of the thread is ready for requests.
    fn connected(&self);

    /// Notes that an attempt to connect to the server with this number has failed.
    fn connect_failed(&self, server: usize, failure: &Failure);
}
