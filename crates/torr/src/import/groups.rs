//! The thread groups of a JMeter plan: which are chosen, and which file each becomes.

use crate::exit::CliError;
use std::path::{Path, PathBuf};
use torr_import::jmeter::ThreadGroup;

/// Returns the group of a name, or all without a name.
///
/// # Errors
/// If no group has the name.
pub(super) fn chosen(groups: Vec<ThreadGroup>, name: Option<&str>) -> Result<Vec<ThreadGroup>, CliError> {
    let Some(name) = name else { return Ok(groups) };
    let names: Vec<_> = groups.iter().map(|group| format!("'{}'", group.name)).collect();
    let chosen: Vec<_> = groups.into_iter().filter(|group| group.name == name).collect();
    if chosen.is_empty() {
        return Err(CliError::Usage(format!("unknown thread group '{name}': use {}", names.join(", "))));
    }
    Ok(chosen)
}

/// Returns the groups, each with its file: the one that was given for one group, and several files beside that for several.
///
/// # Errors
/// If several groups would go to standard output.
pub(super) fn files<'g>(groups: &'g [ThreadGroup], output: &Path) -> Result<Vec<(&'g ThreadGroup, PathBuf)>, CliError> {
    if let [only] = groups {
        return Ok(vec![(only, output.to_owned())]);
    }
    if output == Path::new("-") {
        let names: Vec<_> = groups.iter().map(|group| format!("'{}'", group.name)).collect();
        let message = "each thread group becomes a file: choose one with --group, or pass -o FILE";
        return Err(CliError::Usage(format!("the plan has {}; {message}", names.join(", "))));
    }
    let stem = output.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let extension = output.extension().map_or("hurl".into(), |extension| extension.to_string_lossy());
    let mut taken = Vec::new();
    Ok(groups
        .iter()
        .map(|group| {
            let word: String =
                group.name.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
            let word = word.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
            let numbered = (2..).map(|number| format!("{word}-{number}"));
            let free = std::iter::once(word.clone()).chain(numbered).find(|word| !taken.contains(word));
            let word = free.unwrap_or_default();
            taken.push(word.clone());
            (group, output.with_file_name(format!("{stem}-{word}.{extension}")))
        })
        .collect())
}
