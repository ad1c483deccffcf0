//! Surveys a process from the command line: `survey PID RESOURCE`, where the resource is `cpu`, `thread`, `lock`, `pool`, `workers`, `peer`,
//! `file` or `tls`. Prints what was found as JSON, without the stacks.

use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_where::{Localisation, Resource, Survey};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let process = words.first().and_then(|word| word.parse().ok());
    let resource = words.get(1).and_then(|word| serde_json::from_value::<Resource>(word.as_str().into()).ok());
    let (Some(process), Some(resource)) = (process, resource) else {
        eprintln!("usage: survey PID cpu|thread|lock|pool|workers|peer|file|tls");
        std::process::exit(2);
    };
    let found = Survey::of(vec![process], resource, Duration::from_secs(4)).run(&AtomicBool::new(false));
    let found = Localisation { stacks: None, ..found };
    println!("{}", serde_json::to_string_pretty(&found).expect("its keys are texts"));
}
