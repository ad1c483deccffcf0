//! Load that is too weak to show what the service can do.

use crate::subject::Subject;
use torr_gauge::Factor::{Connections, Generator};

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::fault("generator-quota", Generator, |env| {
            env.generator = env.quota(20)?;
            Ok(env.torr_serve(&[])? + "/")
        })
        .for_root()
        .with(&["-t", "1"])
        .cured(|env| Ok(env.torr_serve(&[])? + "/")),
        Subject::fault("generator-crowded", Generator, |env| {
            env.placement = env.placement.clone().on_cpu(0);
            let url = env.torr_serve(&["--workers", "1"])?;
            let crowded = env.placement.clone().on_cpu(1);
            (env.placement, env.generator) = (crowded.clone(), crowded);
            for _ in 0..4 {
                env.run("sh", &["-c", "while :; do :; done"])?;
            }
            Ok(url + "/")
        })
        .with(&["-t", "1"]),
        Subject::fault("connections-four", Connections, |env| env.service(&["--handler", "async-sleep=20ms"]))
            .with(&["-c", "4"])
            .cured_with(&["-c", "8"]),
        Subject::fault("connections-one", Connections, |env| Ok(env.torr_serve(&[])? + "/sleep/5"))
            .with(&["-c", "1"])
            .cured_with(&["-c", "2"]),
    ]
}
