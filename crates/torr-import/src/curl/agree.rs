//! Options that hold for a whole run, in which the commands of a text may differ.

use crate::draft::{DraftEntry, LeftOut};
use torr_session::hurl::ast::{EntryOption, OptionName, OptionValue};
use torr_session::hurl::option_name;

/// Options of which a run has one value.
const OF_THE_RUN: &[OptionName] = &[
    OptionName::CaCertificate,
    OptionName::ClientCertificate,
    OptionName::ClientKey,
    OptionName::ConnectTimeout,
    OptionName::Http2,
    OptionName::Http2PriorKnowledge,
    OptionName::MaxTime,
    OptionName::UnixSocket,
];

/// Leaves out the options that say something else than an earlier entry: a run refuses them.
pub(super) fn with_each_other(entries: &mut [DraftEntry]) {
    let has_plain =
        entries.iter().any(|made| made.entry.request.url.literal().is_some_and(|url| url.starts_with("http://")));
    let mut first: Vec<EntryOption> = Vec::new();
    for made in entries {
        let mut differing = Vec::new();
        made.entry.request.options.retain(|option| {
            if option.name == OptionName::Http2 && has_plain {
                differing.push((option.clone(), "another request goes to an http:// URL"));
                return false;
            }
            if !OF_THE_RUN.contains(&option.name) {
                return true;
            }
            match first.iter().find(|earlier| earlier.name == option.name) {
                Some(earlier) if earlier.value != option.value => {
                    differing.push((
                        option.clone(),
                        "it applies to the whole run, and an earlier request has another value",
                    ));
                    false
                }
                Some(_) => true,
                None => {
                    first.push(option.clone());
                    true
                }
            }
        });
        for (option, reason) in differing {
            let value = match &option.value {
                OptionValue::Milliseconds(ms) => format!(" {} s", *ms as f64 / 1000.0),
                OptionValue::Text(text) => format!(" {}", text.literal().unwrap_or_default()),
                _ => String::new(),
            };
            let kind = format!("--{}{value}", option_name(option.name));
            made.left_out.push(LeftOut::new(kind, "", reason));
        }
    }
}
