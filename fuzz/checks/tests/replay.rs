//! Replays the seeds of the fuzz targets, so that what was found once stays mended.

use std::path::Path;
use torr_fuzz_checks::CHECKS;

#[test]
fn every_seed_passes_its_check() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds");
    for entry in seeds.read_dir().expect("there are seeds") {
        let name = entry.expect("the folder can be read").file_name();
        assert!(CHECKS.iter().any(|(target, _)| name == *target), "seeds of no target: {name:?}");
    }
    for (target, check) in CHECKS {
        let entries = seeds.join(target).read_dir().unwrap_or_else(|error| panic!("{target} has no seeds: {error}"));
        let paths: Vec<_> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
        assert!(!paths.is_empty(), "{target} has no seeds");
        for path in paths {
            // Said only if the check fails.
            println!("{}", path.display());
            check(&std::fs::read(&path).expect("a seed can be read"));
        }
    }
}
