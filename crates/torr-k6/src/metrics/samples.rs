//! Samples on their way to the outputs.

use super::kind::MetricId;
use super::tag_set::TagSet;
use std::sync::mpsc::SyncSender;
use std::time::SystemTime;

/// The number of samples that are sent together.
const BATCH: usize = 1_024;

/// A value of a metric.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The metric.
    pub metric: MetricId,
    /// When the value was measured.
    pub time: SystemTime,
    /// The value.
    pub value: f64,
    /// The tags.
    pub tags: TagSet,
}

/// The sender of one thread's samples to the outputs. Where the outputs are slower than the test, the test waits: no sample
/// is lost.
#[derive(Debug)]
pub struct SampleSender {
    batch: Vec<Sample>,
    sender: SyncSender<Vec<Sample>>,
}

impl SampleSender {
    /// Returns a sender into a channel.
    #[must_use]
    pub fn new(sender: SyncSender<Vec<Sample>>) -> Self {
        Self { batch: Vec::with_capacity(BATCH), sender }
    }

    pub(super) fn push(&mut self, sample: Sample) {
        self.batch.push(sample);
        if self.batch.len() >= BATCH {
            self.flush();
        }
    }

    pub(super) fn flush(&mut self) {
        if !self.batch.is_empty() {
            // An output that has ended early has said so itself.
            let _ = self.sender.send(std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH)));
        }
    }
}
