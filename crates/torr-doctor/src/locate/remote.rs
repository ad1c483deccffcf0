//! The survey of a server on another machine, by the `torr watch` there.

use super::{Locator, Sampling, Site, wait};
use crate::remote::RemoteWatch;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_gauge::verdict::Located;
use torr_gauge::verdict::place::{Remedy, Unseen, UnseenReason};

/// The part of the load in which the request travels and the processes are opened there.
const MARGIN: Duration = Duration::from_millis(700);

/// The sampling of a site by the `torr watch` there.
struct RemoteSampling<'r> {
    watch: &'r RemoteWatch,
    site: Site,
    located: Located,
}

impl Locator for RemoteWatch {
    fn prepare(&self, site: &Site) -> Box<dyn Sampling + '_> {
        Box::new(RemoteSampling { watch: self, site: site.clone(), located: Located::default() })
    }
}

impl Sampling for RemoteSampling<'_> {
    fn sample(&mut self, warmup: Duration, stop: &AtomicBool) {
        wait(warmup, stop);
        let site = &self.site;
        let time = site.length.saturating_sub(MARGIN);
        let located = self.watch.located(site.factor, (site.rps, site.in_flight), time);
        self.located = located.unwrap_or_else(|error| {
            let unseen = Unseen {
                text: String::new(),
                name: "the server".to_owned(),
                process: None,
                runtime: "native".to_owned(),
                why: UnseenReason::Failed(error.to_string()),
                remedies: vec![Remedy::OnItsMachine],
            };
            Located { unseen: vec![unseen], ..Located::default() }
        });
    }

    fn located(self: Box<Self>) -> Located {
        self.located
    }
}
