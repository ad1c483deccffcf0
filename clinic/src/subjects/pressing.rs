//! Load that is made too weakly to show what the service can do.

use crate::subject::Subject;
use torr_gauge::Factor::{Connections, Generator};

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::fault("generator-quota", Generator, |bed| {
            bed.doctor = bed.quota(20)?;
            Ok(bed.torr_serve(&[])? + "/")
        })
        .for_root()
        .with(&["-t", "1"]),
        Subject::fault("generator-crowded", Generator, |bed| {
            bed.place = bed.place.clone().on_cpu(0);
            let url = bed.torr_serve(&["--workers", "1"])?;
            let crowded = bed.place.clone().on_cpu(1);
            (bed.place, bed.doctor) = (crowded.clone(), crowded);
            for _ in 0..4 {
                bed.run("sh", &["-c", "while :; do :; done"])?;
            }
            Ok(url + "/")
        })
        .with(&["-t", "1"]),
        Subject::fault("connections-four", Connections, |bed| bed.patient(&["--work", "async-sleep=20ms"]))
            .with(&["-c", "4"]),
        Subject::fault("connections-one", Connections, |bed| Ok(bed.torr_serve(&[])? + "/sleep/5")).with(&["-c", "1"]),
    ]
}
