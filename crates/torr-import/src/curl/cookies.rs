//! Cookies between the requests of a text: curl keeps them only within a command that reads or writes a file of cookies, and in
//! that file.

use super::command::Command;
use crate::draft::{DraftEntry, LeftOut};
use crate::parts::option;
use std::collections::BTreeSet;
use torr_session::hurl::ast::{OptionName, OptionValue};

/// The cookies of the commands so far.
#[derive(Debug, Default)]
pub(super) struct Cookies {
    /// The files that commands have written.
    written: BTreeSet<String>,
    /// Whether an earlier entry has left cookies to the virtual user.
    are_kept: bool,
}

impl Cookies {
    /// Gives the entries of a command the cookies that curl would send: a virtual user keeps those of all entries by itself.
    pub(super) fn apply(&mut self, command: &Command, entries: &mut [DraftEntry]) {
        if !command.has_cookies() {
            let off = || option(OptionName::NoCookieStore, OptionValue::Boolean(true));
            entries.iter_mut().for_each(|made| made.entry.request.options.push(off()));
            return;
        }
        let (known, others): (Vec<_>, Vec<_>) =
            command.cookies_from.iter().filter(|name| !name.is_empty()).partition(|name| self.written.contains(*name));
        if let Some(first) = entries.first_mut() {
            for name in others {
                let reason = "a virtual user starts without cookies";
                first.left_out.push(LeftOut::new(format!("cookies of the file '{name}'"), "", reason));
            }
            if self.are_kept && known.is_empty() {
                let what = "starting without cookies";
                first.left_out.push(LeftOut::new(what, "", "cookies of earlier requests are sent too"));
            }
        }
        self.written.extend(command.cookies_to.iter().cloned());
        self.are_kept = true;
    }
}

/// Removes what says that no cookies are kept where none could be: a walk of one request begins without any.
pub(super) fn tidy(entries: &mut [DraftEntry]) {
    let [only] = entries else { return };
    let options = &mut only.entry.request.options;
    let follows =
        options.iter().any(|option| matches!(option.name, OptionName::Location | OptionName::LocationTrusted));
    if !follows {
        options.retain(|option| option.name != OptionName::NoCookieStore);
    }
}
