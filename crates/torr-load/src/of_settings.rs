//! From settings with their values to a load, and back.

use crate::data_kind::DataKind;
use crate::given::Given;
use crate::load::Load;
use crate::settings::{SETTINGS, find};

impl Load {
    /// Returns the load of these settings. Those that no load has are passed over.
    ///
    /// # Errors
    /// For a value that its setting refuses.
    pub fn of<'g>(given: impl IntoIterator<Item = &'g Given>) -> Result<Self, String> {
        let mut load = Self::default();
        for one in given {
            if let Some(setting) = one.setting() {
                setting.set(&mut load, one.value.as_deref().unwrap_or_default())?;
            }
        }
        Ok(load)
    }

    /// Gives a setting a value, or one more value where it can have several; a switch takes no value.
    ///
    /// # Errors
    /// For a value that the setting refuses.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        find(name).ok_or_else(|| format!("unknown setting '{name}'"))?.set(self, value)
    }

    /// Returns the settings that have a value, in the order of the table; the pieces of a body in their own order.
    pub fn given(&self) -> Vec<Given> {
        let mut pieces = self.request.data.iter();
        let mut given = Vec::new();
        for setting in SETTINGS {
            match DataKind::of(setting.name) {
                Some(_) => given.extend(pieces.by_ref().filter_map(|(kind, text)| {
                    find(kind.name()).map(|setting| Given::of(setting, Some(text.clone())))
                })),
                None => given.extend(setting.values(self).into_iter().map(|value| Given::of(setting, value))),
            }
        }
        given
    }

    /// Returns the given settings of what is sent, of the way there, and of how streams of events are read.
    pub fn given_of_requests(&self) -> Vec<Given> {
        self.given().into_iter().filter(Given::is_exchanged).collect()
    }

    /// Returns the load without some of its settings.
    #[must_use]
    pub fn without(&self, leaves: impl Fn(&Given) -> bool) -> Self {
        let kept: Vec<_> = self.given().into_iter().filter(|given| !leaves(given)).collect();
        let mut load = Self::of(&kept).expect("each setting has taken its value before");
        load.arguments.clone_from(&self.arguments);
        load.take_files_from(&self.request.files);
        load
    }
}
