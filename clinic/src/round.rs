//! The round: each subject is started, diagnosed, cured and ended, one after another.

use crate::case::{self, Case};
use crate::cli::Options;
use crate::environment::{Environment, programs};
use crate::outcome::{Outcome, Record, columns};
use crate::subject::{Form, Subject};
use crate::{dry, markdown, run, subjects, totals};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;
use torr_doctor::Recording;
use torr_test_support::error::Error;
use torr_test_support::interrupt;
use torr_test_support::neighbours::Neighbours;

/// The runs that tell the real gain, with a warm-up.
const MEASURED: &[&str] = &["--warmup", "1s", "-d", "3s"];
/// Those runs of services whose code is compiled while they run.
const MEASURED_COMPILED_LATE: &[&str] = &["--warmup", "10s", "-d", "3s"];
/// The mean length of a neighbour's visit, and of its absence: some experiments of a diagnosis, and a part of it.
const VISIT: Duration = Duration::from_secs(5);

/// Does what the command line asks for, and returns whether the verdicts are good enough.
///
/// # Errors
/// If the command line is wrong, or the run was interrupted.
pub fn run(options: &Options) -> Result<bool, Error> {
    let chosen = choose(subjects::all(), &options.only)?;
    if options.list {
        for subject in &chosen {
            let (case, label) = (case::id(subject.name), subject.label.to_string());
            let location = subject.label.location.as_ref().map(|location| format!("  {location}")).unwrap_or_default();
            println!("{:<28} {case} {label:<34} {}{location}", subject.name, subject.form.arguments.join(" "));
        }
        return Ok(true);
    }
    let torr = options.torr()?;
    interrupt::install()?;
    let (able, unable) = split(chosen);
    let mut record = Record::new(options.judge().name(), options.neighbours);
    record.weather = (options.neighbours > 0).then_some(options.weather);
    if !options.dry {
        println!("{}", columns());
    }
    for (subject, why) in unable {
        eprintln!("{} is left out: {why}", subject.name);
        record.not_run.push((subject.name, why));
    }
    let done =
        (0..options.repeat).flat_map(|_| &able).try_for_each(|subject| examine(subject, &torr, options, &mut record));
    if options.dry {
        return done.map(|()| record.not_run.is_empty());
    }
    let good = totals::tell(&record, totals::Demands::of(options));
    if let Some(file) = &options.markdown {
        fs::write(file, markdown::table(&record)).map_err(Error::at(file.display()))?;
    }
    done.map(|()| good)
}

/// Returns the subjects that `only` names, or all.
fn choose(all: Vec<Subject>, only: &[String]) -> Result<Vec<Subject>, Error> {
    if let Some(unknown) = only.iter().find(|pattern| !all.iter().any(|subject| is_named(pattern, subject.name))) {
        return Err(Error::Usage(format!("there is no subject {unknown:?}; --list names them")));
    }
    let named = |subject: &Subject| only.is_empty() || only.iter().any(|pattern| is_named(pattern, subject.name));
    Ok(all.into_iter().filter(named).collect())
}

/// Returns whether `pattern` is the name, or its beginning and a `*`.
fn is_named(pattern: &str, name: &str) -> bool {
    pattern == name || pattern.strip_suffix('*').is_some_and(|beginning| name.starts_with(beginning))
}

/// Returns the subjects that can be started here, and the others with the reason.
fn split(subjects: Vec<Subject>) -> (Vec<Subject>, Vec<(Subject, String)>) {
    let (mut able, mut unable) = (Vec::new(), Vec::new());
    for subject in subjects {
        match lacks(&subject) {
            None => able.push(subject),
            Some(why) => unable.push((subject, why)),
        }
    }
    (able, unable)
}

/// Returns why a subject cannot be started here.
pub fn lacks(subject: &Subject) -> Option<String> {
    let missing: Vec<_> = subject.programs.iter().filter(|name| programs::find(name).is_none()).copied().collect();
    if subject.root && !rustix::process::geteuid().is_root() {
        Some("it needs root, for namespaces and quotas".into())
    } else if !missing.is_empty() {
        Some(format!("{} is missing; clinic/README.md has the packages", missing.join(" and ")))
    } else {
        None
    }
}

/// Diagnoses a subject. Only an interruption is an error: what goes wrong with one subject is recorded.
fn examine(subject: &Subject, torr: &Path, options: &Options, record: &mut Record) -> Result<(), Error> {
    let done = attempt(|| match options.dry {
        true => press(subject, torr),
        false => diagnose(subject, torr, options, record),
    })?;
    if let Err(why) = done {
        eprintln!("{} was not judged: {why}", subject.name);
        record.not_run.push((subject.name, why));
    }
    Ok(())
}

/// Does something with a subject, and returns why it failed if it did. Only an interruption is an error.
pub fn attempt<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<Result<T, String>, Error> {
    interrupt::check()?;
    // A database that does not start panics.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(done)) => Ok(Ok(done)),
        Ok(Err(Error::Interrupted)) => Err(Error::Interrupted),
        Ok(Err(error)) => Ok(Err(error.to_string())),
        Err(_) => Ok(Err("it panicked".to_owned())),
    }
}

/// Presses both forms of a subject, and prints their figures.
fn press(subject: &Subject, torr: &Path) -> Result<(), Error> {
    let forms = [Some(&subject.form), subject.cured.as_ref()];
    for (form, name) in forms.into_iter().flatten().zip([subject.label.main().to_string(), "cured".into()]) {
        let mut environment = Environment::new(torr)?;
        let url = (form.start)(&mut environment)?;
        println!("{:<28} {name:<14} {}", subject.name, dry::press(&environment, form.arguments, &url)?);
    }
    Ok(())
}

/// Starts the neighbours of a case. Each has its own weather, the same in each round.
pub fn neighbours(case: &Case, count: usize, weather: u64) -> Neighbours {
    let own = u64::from_str_radix(&case.case, 16).unwrap_or_default();
    Neighbours::start(count, VISIT, own.wrapping_add(weather))
}

fn diagnose(subject: &Subject, torr: &Path, options: &Options, record: &mut Record) -> Result<(), Error> {
    let mut environment = Environment::new(torr)?;
    let url = (subject.form.start)(&mut environment)?;
    let case = Case::new(subject, subject.form.arguments, url.clone(), &environment);
    let neighbours = neighbours(&case, options.neighbours, options.weather);
    let finding = options.judge().examine(&environment, &case)?;
    // What the cure brings is measured without them.
    drop(neighbours);
    if let Some(folder) = &options.keep {
        let text = serde_json::to_string_pretty(&finding.trail).map_err(Error::at("the finding"))?;
        fs::write(file_for(folder, subject.name, "json")?, text)?;
    }
    let mut outcome = Outcome::new(subject.name, &subject.label, finding, options.budget.as_secs_f64());
    // A plain run has no observations to replay.
    if let Some(folder) = options.record.as_ref().filter(|_| case.load.rate.is_none()) {
        let recording = Recording::of_json(&outcome.finding.trail.to_string(), outcome.expected());
        recording.map_err(Error::at("the recording"))?.write(&file_for(folder, subject.name, "json.gz")?)?;
    }
    // A plain run promises nothing.
    let cured = subject.cured.as_ref().filter(|_| !options.passive);
    let real = cured.map(|cured| real_gain(environment, subject, &url, cured, torr)).transpose();
    let real = match real {
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Err(error) => {
            eprintln!("{}: the cured form was not measured: {error}", subject.name);
            record.not_run.push((subject.name, format!("its cured form: {error}")));
            Ok(None)
        }
        Ok(real) => Ok(real),
    };
    outcome.promise.real = *real.as_ref().unwrap_or(&None);
    println!("{}", outcome.line());
    record.outcomes.push(outcome);
    // At once, so that an interruption loses nothing.
    if let Some(file) = &options.json {
        record.write(file)?;
    }
    real.map(|_| ())
}

/// Returns the throughput of a subject's cured form as a factor of the diagnosed form's, which is up in `environment`. Two runs that
/// differ in nothing else tell it.
///
/// # Errors
/// If a form cannot be started or loaded.
pub fn real_gain(
    environment: Environment,
    subject: &Subject,
    url: &str,
    cured: &Form,
    torr: &Path,
) -> Result<f64, Error> {
    let measured = if subject.is_compiled_late { MEASURED_COMPILED_LATE } else { MEASURED };
    let throughput = |environment: &Environment, form: &Form, url: &str| {
        Ok::<_, Error>(run::plain(environment, &[form.arguments, measured].concat(), url)?.good_rps())
    };
    let before = throughput(&environment, &subject.form, url)?;
    drop(environment);
    let mut environment = Environment::new(torr)?;
    let url = (cured.start)(&mut environment)?;
    let after = throughput(&environment, cured, &url)?;
    match before > 0.0 {
        true => Ok(after / before),
        false => Err(Error::failed("nothing was answered before the cure")),
    }
}

/// Returns a new file of a folder with a subject's name and an ending. A later diagnosis of the same subject gets a number.
fn file_for(folder: &Path, name: &str, ending: &str) -> Result<PathBuf, Error> {
    fs::create_dir_all(folder)?;
    let mut file = folder.join(format!("{name}.{ending}"));
    let mut number = 1;
    while file.exists() {
        number += 1;
        file.set_file_name(format!("{name}-{number}.{ending}"));
    }
    Ok(file)
}
