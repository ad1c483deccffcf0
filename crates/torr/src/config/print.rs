//! The configuration as a TOML file that says of each value where it comes from.

use super::Config;
use super::settings::{SETTINGS, Setting};

impl Config {
    /// All settings, as `--config` reads them.
    pub fn toml(&self) -> String {
        let line = |setting: &Setting| {
            let source = match (self.sources.get(setting.key), setting.default) {
                (Some(source), _) => source.to_string(),
                (None, Some(what)) => format!("default, {what}"),
                (None, None) => "default".into(),
            };
            format!("{} = {}  # {source}\n", setting.key, setting.toml(&self.chosen))
        };
        SETTINGS.iter().map(line).collect()
    }
}
