//! The known name that a mistyped one most resembles.

use super::settings::{FILE_VARIABLE, PREFIX, SETTINGS};

/// The setting whose key is most like this one, if any is.
pub fn to_key(typed: &str) -> Option<&'static str> {
    let typed = typed.to_lowercase().replace('-', "_");
    let rated = SETTINGS.iter().map(|setting| (strsim::jaro_winkler(&typed, setting.key), setting.key));
    let best = rated.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.8).then_some(best.1)
}

/// The one of which this is so near that hardly anything else can be meant.
pub fn to_variable(typed: &str) -> Option<String> {
    let typed = typed.to_uppercase();
    // Two letters are half of a short name: PORT, which Kubernetes sets, is not ROOT.
    let most = |known: &str| if known.len() < PREFIX.len() + 6 { 1 } else { 2 };
    let near = |known: &str| strsim::osa_distance(&typed, known) <= most(known);
    SETTINGS.iter().map(|setting| setting.variable()).chain([FILE_VARIABLE.into()]).find(|known| near(known))
}
