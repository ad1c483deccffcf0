//! Recordings: the observations of a diagnosis in a file, and a runner that replays experiments from them.
//!
//! A recording is JSON, `torr.recording/1`: the `expected` factor, the `setting` of the diagnosis and its `trail`, both as in
//! `torr.doctor/1`, and the experiments in which not one connection came about (`unreached`). A diagnosis as JSON
//! is a recording but for `expected`. The trail has what rules read, without series, histograms and the signals of the run itself. The
//! file is compressed with gzip (RFC 1952), and takes some ten kilobytes.

#[cfg(test)]
mod disturbed;

use crate::diagnosis::Diagnosis;
use crate::driver;
use crate::experiment::Experiment;
use crate::halt::Halt;
use crate::locate::Site;
use crate::observation::Observation;
use crate::runner::{ExperimentRunner, Order};
use crate::setting::Setting;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_gauge::result::Phases;
use torr_gauge::verdict::{ExperimentId, Located};
use torr_gauge::{Factor, Failure, FailureKind, FailureSide};
use torr_press::RunError;

/// The version of [`Recording`].
pub const SCHEMA: &str = "torr.recording/1";

/// The observations of a diagnosis.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Recording {
    /// `torr.recording/1`.
    pub schema: String,
    /// The factor that a diagnosis of this service should name.
    pub expected: Factor,
    /// The load that was meant, and what could be varied.
    pub setting: Setting,
    /// The experiments in which not one connection came about.
    #[serde(default)]
    pub unreached: Vec<ExperimentId>,
    /// All observations in their order.
    pub trail: Vec<Observation>,
    /// The places that were found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub located: Option<Located>,
}

impl Recording {
    /// Returns the recording of a diagnosis of a service that `expected` limits.
    pub fn of(diagnosis: &Diagnosis, expected: Factor) -> Self {
        Self {
            schema: SCHEMA.into(),
            expected,
            setting: diagnosis.setting.clone(),
            unreached: diagnosis.unreached.clone(),
            trail: diagnosis.trail.clone(),
            located: diagnosis.located.clone(),
        }
        .trimmed()
    }

    /// Removes what no rule reads.
    fn trimmed(mut self) -> Self {
        for observation in &mut self.trail {
            let run = &mut observation.run;
            run.series.clear();
            (run.host, run.signals, run.validity, run.phases_us) = (None, None, None, Phases::default());
            if let Some(signals) = &mut observation.signals {
                // Their names are those of the programs of a developer's machine.
                signals.others.clear();
            }
        }
        self
    }

    /// Returns the recording of a diagnosis that was written as JSON (`torr doctor --json`), of a service that `expected` limits.
    ///
    /// # Errors
    /// What JSON without a `setting` and a `trail` has.
    pub fn of_json(diagnosis: &str, expected: Factor) -> serde_json::Result<Self> {
        let mut fields: serde_json::Value = serde_json::from_str(diagnosis)?;
        fields["schema"] = SCHEMA.into();
        fields["expected"] = serde_json::to_value(expected)?;
        serde_json::from_value(fields).map(Self::trimmed)
    }

    /// Writes the recording into a file.
    ///
    /// # Errors
    /// The errors of the file.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut file = GzEncoder::new(File::create(path)?, Compression::best());
        serde_json::to_writer(&mut file, self)?;
        file.finish()?.flush()
    }

    /// Reads a recording from a file.
    ///
    /// # Errors
    /// The errors of the file, and an error for a file that is not a recording.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_reader(BufReader::new(GzDecoder::new(File::open(path)?)))?)
    }

    /// Diagnoses the service again from what was observed of it.
    ///
    /// # Errors
    /// [`Halt::NotRecorded`] if a rule requests an experiment that was not recorded.
    pub fn diagnose(&self) -> Result<Diagnosis, Halt> {
        let left = self.trail.iter().cloned().collect();
        let (unreached, located) = (&self.unreached[..], self.located.as_ref());
        let mut runner = Replay { left, unreached, located, elapsed: Duration::ZERO };
        let outcome = driver::diagnose(self.setting.clone(), &mut runner, &AtomicBool::new(false), &mut |_| {})?;
        Ok(Diagnosis::of(outcome, runner.elapsed.as_secs_f64()))
    }
}

/// Returns the end of an experiment in which no connection came about.
fn unreachable() -> Halt {
    let failure = Failure::new(FailureKind::Ports, FailureSide::Client, "no free local port (recorded)");
    Halt::Run(RunError::Unreachable { target: "the recorded service".into(), failure })
}

/// A runner with which each experiment has the outcome that was recorded.
struct Replay<'r> {
    left: VecDeque<Observation>,
    unreached: &'r [ExperimentId],
    located: Option<&'r Located>,
    elapsed: Duration,
}

impl Replay<'_> {
    /// Takes the first observation of an experiment that has not been taken yet.
    fn take(&mut self, experiment: &Experiment) -> Result<Observation, Halt> {
        let is_it = |seen: &Observation| seen.id == experiment.id;
        if let Some(at) = self.left.iter().position(is_it) {
            let observation = self.left.remove(at).expect("its position was just found");
            self.elapsed = self.elapsed.max(Duration::from_secs_f64(observation.ended_s));
            return Ok(observation);
        }
        if self.unreached.contains(&experiment.id) {
            // A diagnosis that needs the experiment goes on only where it met no local port.
            return Err(unreachable());
        }
        if matches!(experiment.id, ExperimentId::AloneUndisturbed | ExperimentId::AfterPause) {
            // Earlier versions made these experiments less often. A diagnosis goes on without them.
            return Err(unreachable());
        }
        Err(Halt::NotRecorded(experiment.id))
    }
}

impl ExperimentRunner for Replay<'_> {
    fn elapsed(&self) -> Duration {
        self.elapsed
    }

    fn run(&mut self, order: &Order<'_>) -> Result<Observation, Halt> {
        self.take(order.experiment)
    }

    fn run_beside(&mut self, order: &Order<'_>, light: &Order<'_>) -> Result<[Observation; 2], Halt> {
        let full = self.take(order.experiment)?;
        Ok([full, self.take(light.experiment)?])
    }

    fn locate(&mut self, _order: &Order<'_>, _site: &Site) -> Result<Option<Located>, Halt> {
        Ok(self.located.cloned())
    }

    fn rest(&mut self, _: Duration) -> Result<(), Halt> {
        Ok(())
    }
}
