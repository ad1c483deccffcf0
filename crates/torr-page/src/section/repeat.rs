//! How to repeat it: the command, the versions and the machine.

mod flags;

use crate::document::{Document, Kind};
use crate::fields::{field, list, number, text, texts};
use maud::{Markup, html};
use torr_report::human::plural;

/// Returns the section.
pub fn repeat(document: &Document) -> Markup {
    let value = &document.value;
    let paths = ["host.cores", "setting.generator_cpus", "machine.cores", "header.machine.cores"];
    let cores = paths.into_iter().find_map(|path| number(value, path));
    let version = text(value, "torr").or(text(value, "header.torr")).unwrap_or("of an unknown version");
    let given = given(document);
    let given = given.as_deref();
    let verify =
        text(value, "verdict.verify").or(text(value, "conclusion.verify")).filter(|verify| given != Some(verify));
    html! {
        section {
            h2 { "How to repeat it" }
            @if let Some(given) = given {
                pre tabindex="0" { (given) }
                @if given.contains("\"$TORR_") || given.contains(": $TORR_") {
                    p.sub { "Each variable $TORR_... stands for a secret, which results do not contain: set it first." }
                }
            } @else if let Some(why) = missing(document) {
                p { "No command is shown: " (why) "." }
            } @else {
                pre tabindex="0" { (command(document)) }
                @if document.kind == Kind::Lab {
                    p.sub { "The archive contains neither --row nor the paths of your own suites and subjects." }
                }
                @if document.kind == Kind::Run {
                    p.sub { "This command comes from the plan in the result, which does not contain header fields, bodies and files." }
                }
                @if document.kind == Kind::Versions {
                    p.sub { "Add --a and --b for results, and for versions that a command starts." }
                }
            }
            @if let Some(verify) = verify { p { "To verify the verdict:" } pre tabindex="0" { (verify) } }
            p.sub {
                "torr " (version)
                @if let Some(cores) = cores { ", " (cores) " CPUs" }
                @if let Some(name) = text(value, "host_name") {
                    @match list(value, "fleet.agents").len() {
                        0 => { ", on " (name) }
                        agents => { ", load from " (plural(agents as u64, "agent")) ", coordinated on " (name) }
                    }
                }
                ". From " (document.name) "."
            }
        }
    }
}

/// Returns the command line that a result keeps, with the seed that was drawn where there is one.
fn given(document: &Document) -> Option<String> {
    let value = &document.value;
    let (command, seed) = match document.kind {
        Kind::Lab => (text(value, "header.command"), number(value, "header.seed")),
        // Results that were there already are compared without turns.
        Kind::Versions => (text(value, "command"), number(value, "seed").filter(|_| number(value, "rate").is_some())),
        _ => (text(value, "command"), None),
    };
    let command = command?;
    let seed = seed.filter(|_| !command.contains(" --seed "));
    Some(seed.map_or_else(|| command.to_owned(), |seed| format!("{command} --seed {seed}")))
}

/// Returns why no command line can be made of a result that does not have its own; `None` where one can.
fn missing(document: &Document) -> Option<&'static str> {
    match document.kind {
        Kind::Run => flags::missing(&document.value),
        Kind::Doctor => list(&document.value, "trail").iter().find_map(|step| flags::of_sessions(field(step, "run")?)),
        Kind::Limit | Kind::Versions | Kind::Lab | Kind::Demo | Kind::History => None,
    }
}

/// Returns a command line for a result that does not have its own, as far as the result tells.
fn command(document: &Document) -> String {
    let value = &document.value;
    let target = quoted(text(value, "target"));
    match document.kind {
        Kind::Run => format!(
            "torr {}",
            quoted(text(value, "target").into_iter().chain(flags::of(value).iter().map(String::as_str)))
        ),
        Kind::Doctor => {
            let connections = number(value, "setting.connections");
            format!("torr doctor {target}{}", connections.map_or_else(String::new, |count| format!(" -c {count}")))
        }
        Kind::Limit => {
            let slo = quoted([texts(value, "slo").collect::<Vec<_>>().join(",").as_str()]);
            format!("torr limit {target} --slo {slo}")
        }
        Kind::Versions => {
            let seed = number(value, "seed").filter(|_| number(value, "rate").is_some());
            let versions = ["a", "b"].map(|name| text(value, name).unwrap_or_default());
            format!(
                "torr compare {}{}",
                quoted(versions),
                seed.map_or_else(String::new, |seed| format!(" --seed {seed}"))
            )
        }
        Kind::Lab => {
            let suite = quoted(text(value, "header.suite"));
            let of = |path: &str| number(value, path).map_or_else(String::new, |figure| figure.to_string());
            let subjects: String =
                texts(value, "table.subjects").map(|subject| format!(" --subject {}", quoted([subject]))).collect();
            let (rounds, scale, seed) = (of("header.rounds"), of("header.scale"), of("header.seed"));
            format!("torr lab run {suite} --rounds {rounds} --scale {scale} --seed {seed}{subjects}")
        }
        Kind::Demo => "torr demo".to_owned(),
        Kind::History => {
            let builds = list(value, "builds").iter().filter_map(|build| text(build, "run"));
            format!("torr history {}", quoted(builds))
        }
    }
}

/// Returns words as a shell reads them. A character that no argument can have is replaced.
fn quoted<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let words: Vec<_> = words.into_iter().map(|word| word.replace('\0', "\u{fffd}")).collect();
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}
