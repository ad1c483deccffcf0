//! Makes the round: each subject is started, judged and ended, one after another.

use crate::cli::Options;
use crate::environment::{Environment, programs};
use crate::error::Error;
use crate::judge::Judge;
use crate::outcome::{Outcome, Record};
use crate::subject::Subject;
use crate::{dry, interrupt, subjects, totals};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Handler what the command line asks for; says whether Torr did well.
///
/// # Errors
/// If the command line makes no sense, or the run was interrupted.
pub fn run(options: &Options) -> Result<bool, Error> {
    let chosen = choose(subjects::all(), &options.only)?;
    if options.list {
        for subject in &chosen {
            println!("{:<26} {:<34} {}", subject.name, subject.label.to_string(), subject.arguments.join(" "));
        }
        return Ok(true);
    }
    let torr = options.torr()?;
    interrupt::install()?;
    let (able, unable) = split(chosen);
    let mut record = Record::new();
    for (subject, why) in unable {
        eprintln!("{} is left out: {why}", subject.name);
        record.not_run.push((subject.name, why));
    }
    let done =
        (0..options.repeat).flat_map(|_| &able).try_for_each(|subject| attend(subject, &torr, options, &mut record));
    if options.dry {
        return done.map(|()| record.not_run.is_empty());
    }
    let good = totals::tell(&record, options.passive);
    done.map(|()| good)
}

/// The subjects that are asked for, or all.
fn choose(all: Vec<Subject>, only: &[String]) -> Result<Vec<Subject>, Error> {
    if let Some(stranger) = only.iter().find(|asked| !all.iter().any(|subject| is_meant(asked, subject.name))) {
        return Err(Error::Usage(format!("there is no subject {stranger:?}; --list names them")));
    }
    let meant = |subject: &Subject| only.is_empty() || only.iter().any(|asked| is_meant(asked, subject.name));
    Ok(all.into_iter().filter(meant).collect())
}

/// Whether a name is asked for, by itself or by its beginning and a `*`.
fn is_meant(asked: &str, name: &str) -> bool {
    asked == name || asked.strip_suffix('*').is_some_and(|beginning| name.starts_with(beginning))
}

/// Those that can be started here, and the others with the reason.
fn split(subjects: Vec<Subject>) -> (Vec<Subject>, Vec<(Subject, String)>) {
    let (mut able, mut unable) = (Vec::new(), Vec::new());
    for subject in subjects {
        let missing: Vec<_> = subject.programs.iter().filter(|name| programs::find(name).is_none()).copied().collect();
        if subject.root && !rustix::process::geteuid().is_root() {
            unable.push((subject, "it needs root, for namespaces and quotas".into()));
        } else if !missing.is_empty() {
            unable.push((subject, format!("{} is missing; clinic/README.md has the packages", missing.join(" and "))));
        } else {
            able.push(subject);
        }
    }
    (able, unable)
}

/// Only an interruption is an error: what goes wrong with one subject is noted.
fn attend(subject: &Subject, torr: &Path, options: &Options, record: &mut Record) -> Result<(), Error> {
    interrupt::check()?;
    // A database that does not start panics.
    let done = catch_unwind(AssertUnwindSafe(|| visit(subject, torr, options, record)));
    let why = match done {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(Error::Interrupted)) => return Err(Error::Interrupted),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "it panicked".to_owned(),
    };
    eprintln!("{} was not judged: {why}", subject.name);
    record.not_run.push((subject.name, why));
    Ok(())
}

fn visit(subject: &Subject, torr: &Path, options: &Options, record: &mut Record) -> Result<(), Error> {
    let mut environment = Environment::new(torr)?;
    let url = (subject.start)(&mut environment)?;
    if options.dry {
        println!("{:<26} {:<14} {}", subject.name, subject.label.main(), dry::press(&environment, subject, &url)?);
        return Ok(());
    }
    let judge = if options.passive { Judge::Passive } else { Judge::Doctor(options.budget) };
    let finding = judge.examine(&environment, subject, &url)?;
    if let Some(folder) = &options.keep {
        keep(folder, subject.name, &finding.trail)?;
    }
    let case = Outcome::new(subject.name, &subject.label, finding, options.budget.as_secs_f64());
    println!("{}", case.line());
    record.cases.push(case);
    // At once: what was found is worth having however the round ends.
    if let Some(file) = &options.json {
        record.write(file)?;
    }
    Ok(())
}

/// Writes a finding under its subject's name; a later one of the same gets a number.
fn keep(folder: &Path, name: &str, trail: &serde_json::Value) -> Result<(), Error> {
    fs::create_dir_all(folder)?;
    let mut file = folder.join(format!("{name}.json"));
    let mut number = 1;
    while file.exists() {
        number += 1;
        file.set_file_name(format!("{name}-{number}.json"));
    }
    let text = serde_json::to_string_pretty(trail).map_err(Error::at("the finding"))?;
    fs::write(&file, text).map_err(Error::at(file.display()))
}
