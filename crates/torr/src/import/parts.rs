//! Imports that become several files, such as the thread groups of a JMeter plan: which are chosen, and which file each becomes.

use crate::exit::CliError;
use std::path::{Path, PathBuf};
use torr_doctor::quoted;
use torr_import::artillery::Script;

/// Returns the part of a name, or all without a name. `kind` says what the parts are.
///
/// # Errors
/// If no part has the name.
pub(super) fn chosen<T>(
    parts: Vec<T>,
    name_of: impl Fn(&T) -> &String,
    name: Option<&str>,
    kind: &str,
) -> Result<Vec<T>, CliError> {
    let Some(name) = name else { return Ok(parts) };
    let names: Vec<_> = parts.iter().map(|part| name_of(part).clone()).collect();
    let chosen: Vec<_> = parts.into_iter().filter(|part| name_of(part) == name).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        return Err(CliError::Usage(format!("unknown {kind} '{name}': use {}", listed(&names))));
    }
    Ok(chosen)
}

/// Returns names in quotes.
pub(super) fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}

/// Returns the file of each part: the one that was given for one part, and several files beside that for several.
///
/// # Errors
/// With this message if several parts would go to standard output.
pub(super) fn files(names: &[&str], output: &Path, message: &str) -> Result<Vec<PathBuf>, CliError> {
    if names.len() == 1 {
        return Ok(vec![output.to_owned()]);
    }
    if output == Path::new("-") {
        return Err(CliError::Usage(message.to_owned()));
    }
    let stem = output.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let extension = output.extension().map_or("hurl".into(), |extension| extension.to_string_lossy());
    let mut taken = Vec::new();
    Ok(names
        .iter()
        .map(|name| {
            let word: String = name.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
            let word = word.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
            let numbered = (2..).map(|number| format!("{word}-{number}"));
            let free = std::iter::once(word.clone()).chain(numbered).find(|word| !taken.contains(word));
            let word = free.unwrap_or_default();
            taken.push(word.clone());
            output.with_file_name(format!("{stem}-{word}.{extension}"))
        })
        .collect())
}

/// Returns the command of the load of a script whose parts are these files: the scenarios, and what runs before and after them.
pub(super) fn command(script: &Script, files: &[PathBuf]) -> String {
    let shown = |path: &PathBuf| match path == Path::new("-") {
        true => "FILE".to_owned(),
        false => quoted(&path.to_string_lossy()),
    };
    let mut words = vec!["torr".to_owned()];
    let mut files = files.iter().map(shown);
    for (scenario, file) in script.scenarios.iter().zip(files.by_ref()) {
        let is_only = script.scenarios.len() == 1;
        words.push(if is_only { file } else { format!("{file}={}", scenario.weight) });
    }
    for (flag, draft) in [("--setup", &script.before), ("--teardown", &script.after)] {
        words.extend(draft.as_ref().and_then(|_| files.next()).map(|file| format!("{flag} {file}")));
    }
    words.extend(script.flags.iter().cloned());
    words.join(" ")
}
