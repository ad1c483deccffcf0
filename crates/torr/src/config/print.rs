//! The configuration as a TOML file that says of each value where it comes from.

use super::Config;
use super::settings::{Kind, SETTINGS, Setting};
use torr_gauge::redact;

impl Config {
    /// All settings, as `--config` reads them, but for the passwords in them, which are not shown.
    pub fn toml(&self) -> String {
        let line = |setting: &Setting| {
            let source = match (self.sources.get(setting.key), setting.default) {
                (Some(source), _) => source.to_string(),
                (None, Some(what)) => format!("default, {what}"),
                (None, None) => "default".into(),
            };
            let text = (setting.text)(&self.chosen);
            let shown = if setting.kind == Kind::Secret { redact::url(&text) } else { text.as_str().into() };
            let note = if shown == text { "" } else { "; *** hides a secret" };
            format!("{} = {}  # {source}{note}\n", setting.key, setting.as_toml(&shown))
        };
        SETTINGS.iter().map(line).collect()
    }
}
