//! Diagnoses of real services that were recorded name the same factor again, whatever became of the rules.

use std::path::Path;
use torr_doctor::{Observation, Recording};
use torr_gauge::{Confidence, Factor};

#[test]
fn each_recorded_service_has_its_factor() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
    let files = folder.read_dir().expect("the recordings are there").map(|file| file.expect("it can be listed").path());
    let (mut count, mut faults) = (0, vec![]);
    for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "gz")) {
        let recording = Recording::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        count += 1;
        if let Err(fault) = check(&recording) {
            faults.push(format!("{}: {fault}", file.display()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count >= 60, "{count} recordings");
}

/// Diagnoses a recorded service again.
fn check(recording: &Recording) -> Result<(), String> {
    let found = recording.diagnose().map_err(|halt| halt.to_string())?;
    if found.finding.factor != recording.expected {
        return Err(format!("not {}, but {:#?}", recording.expected, found.finding));
    }
    let is_unknown = found.finding.confidence == Confidence::Unknown;
    assert_eq!(is_unknown, recording.expected == Factor::Unknown, "{:#?}", found.finding);
    // Pairs of runs end as soon as two agree, which earlier versions did not do.
    let again = |seen: &Observation| recording.trail.iter().filter(|other| other.id == seen.id).count() > 1;
    let once = |trail: &[Observation]| trail.iter().filter(|seen| !again(seen)).count();
    match once(&found.trail) == once(&recording.trail) {
        true => Ok(()),
        false => Err(format!("{} of {} experiments were asked for again", found.trail.len(), recording.trail.len())),
    }
}
