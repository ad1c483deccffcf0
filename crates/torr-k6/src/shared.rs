//! What all virtual users of a run share, on all threads.

use crate::control::Control;
use crate::executors::Conductor;
use crate::http_settings::Settings;
use crate::log::Log;
use crate::metrics::Registry;
use crate::network::NetworkSettings;
use crate::options::Consolidated;
use crate::schemas::Schemas;
use crate::shared_arrays::SharedArrays;
use crate::sockets::Carrier;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The state that all virtual users of a run share. Each room adds its own field with a lock of its own where it changes.
#[derive(Debug, Default)]
pub struct RunShared {
    /// The environment that scripts see as `__ENV`.
    pub env: BTreeMap<String, String>,
    /// What the environment of the process says about the way to servers.
    pub network: NetworkSettings,
    /// The log, with the lines of the console.
    pub log: Log,
    /// The arrays that all virtual users share.
    pub arrays: Arc<SharedArrays>,
    /// The metrics.
    pub registry: Registry,
    /// The options, once they are consolidated.
    pub options: OnceLock<Consolidated>,
    /// What the options say about requests.
    pub http: OnceLock<Settings>,
    /// When the clock of the test started, once it has.
    pub started: OnceLock<Instant>,
    /// The conductor of the iterations, once the options are known.
    pub conductor: OnceLock<Arc<Conductor>>,
    /// What `setup` returned in JSON, once it has; `None` within if that was nothing.
    pub setup_data: OnceLock<Option<Arc<str>>>,
    /// The schemas of gRPC that the script has loaded.
    pub schemas: Schemas,
    /// The thread that carries sockets, where the run may have some.
    pub carrier: OnceLock<Carrier>,
    /// The signal that the run is to end.
    pub control: Control,
    /// Whether the run ends at once, without teardown.
    pub leave: Arc<AtomicBool>,
}

impl RunShared {
    /// Returns what the options say about requests.
    pub fn http_settings(&self) -> &Settings {
        self.http.get_or_init(|| {
            let settings = self.options.get().map_or_else(Settings::default, |all| Settings::of(&all.options));
            Settings { proxies: self.network.proxies.clone(), ..settings }
        })
    }
}
