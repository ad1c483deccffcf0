//! Metrics of a test: registry, tags, samples, sinks, thresholds.

/// The metrics that one load thread has recorded.
#[derive(Debug, Default)]
pub struct Recorder;

/// The tags that a virtual user's samples carry now.
#[derive(Debug, Default)]
pub struct CurrentTags;

/// The counters of a virtual user that `k6/execution` shows.
#[derive(Debug, Default)]
pub struct IterationInfo;

/// The metrics of a test, built-in ones and those of the script.
#[derive(Debug, Default)]
pub struct Registry;
