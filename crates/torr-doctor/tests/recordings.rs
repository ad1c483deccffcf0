//! Diagnoses of real services that were recorded name the same factor again, whatever became of the rules.

use std::path::Path;
use torr_doctor::Recording;
use torr_gauge::{Confidence, Factor};

#[test]
fn each_recorded_service_has_its_factor() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
    let files = folder.read_dir().expect("the recordings are there").map(|file| file.expect("it can be listed").path());
    let mut count = 0;
    for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "json")) {
        let recording = Recording::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let found = recording.diagnose().unwrap_or_else(|halt| panic!("{}: {halt}", file.display()));
        assert_eq!(found.verdict.factor, recording.expected, "{}: {:#?}", file.display(), found.verdict);
        let is_unknown = found.verdict.confidence == Confidence::Unknown;
        assert_eq!(is_unknown, recording.expected == Factor::Unknown, "{}", file.display());
        assert_eq!(found.trail.len(), recording.trail.len(), "{}: all was asked for again", file.display());
        count += 1;
    }
    assert!(count >= 2, "{count} recordings");
}

#[test]
fn a_diagnosis_as_json_is_a_recording_but_for_its_factor() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
    let recording = Recording::read(&folder.join("connections-demo-sleep.json")).expect("it is a recording");
    let found = recording.diagnose().expect("all was recorded");
    let json = serde_json::to_string(&found).expect("a diagnosis is JSON");
    let again = Recording::of_json(&json, Factor::Connections).expect("it has a setting and a trail");
    assert_eq!((again.trail.len(), again.expected), (recording.trail.len(), Factor::Connections));
    assert_eq!(again.diagnose().expect("all was recorded").verdict.factor, Factor::Connections);
}
