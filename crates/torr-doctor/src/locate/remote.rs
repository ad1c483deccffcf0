//! The survey of a server on another machine, by the `torr watch` there.

use super::{Locator, Site, wait};
use crate::remote::RemoteWatch;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_gauge::verdict::Located;
use torr_gauge::verdict::place::{Remedy, Unseen, UnseenReason};

/// The time between the end of sampling and the end of the load, in which the request and its response travel.
const MARGIN: Duration = Duration::from_millis(700);

impl Locator for RemoteWatch {
    fn locate(&self, site: &Site, warmup: Duration, stop: &AtomicBool) -> Located {
        wait(warmup, stop);
        let time = site.length.saturating_sub(MARGIN);
        self.located(site.factor, (site.rps, site.in_flight), time).unwrap_or_else(|error| {
            let unseen = Unseen {
                text: String::new(),
                name: "the server".to_owned(),
                process: None,
                runtime: "native".to_owned(),
                why: UnseenReason::Failed(error.to_string()),
                remedies: vec![Remedy::OnItsMachine],
            };
            Located { unseen: vec![unseen], ..Located::default() }
        })
    }
}
