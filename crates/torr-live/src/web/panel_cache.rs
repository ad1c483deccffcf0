//! The state of a run as it was last rendered, which all browsers share.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time for which a browser that comes late is shown the state as it was last rendered.
const FRESH: Duration = Duration::from_secs(1);

/// The state of a run as HTML.
#[derive(Debug, Clone)]
pub struct RenderedPanel {
    pub html: Arc<str>,
    pub has_ended: bool,
}

/// The last rendering.
#[derive(Debug, Default)]
pub struct PanelCache(Mutex<Option<Entry>>);

#[derive(Debug)]
struct Entry {
    panel: RenderedPanel,
    /// The number of changes that the rendering shows at least.
    changes: u64,
    rendered: Instant,
}

impl PanelCache {
    /// Returns the last rendering, or a new one if there was a change since, or it is older than a second. `render` is called by one
    /// browser's stream, and others wait for it.
    pub fn get(&self, changes: u64, render: impl FnOnce() -> RenderedPanel) -> RenderedPanel {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = last.as_ref().filter(|entry| entry.changes >= changes && entry.rendered.elapsed() < FRESH)
        {
            return entry.panel.clone();
        }
        let panel = render();
        *last = Some(Entry { panel: panel.clone(), changes, rendered: Instant::now() });
        panel
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_rendered_once_for_all() {
        let cache = PanelCache::default();
        let get = |changes, text: &str| {
            cache.get(changes, || RenderedPanel { html: text.into(), has_ended: false }).html.to_string()
        };
        assert_eq!(get(1, "first"), "first");
        assert_eq!(get(2, "second"), "second");
        // A reader that learned of an earlier change is shown the later state.
        assert_eq!([get(2, "again"), get(1, "again")], ["second", "second"]);
        cache.0.lock().expect("nobody panics").as_mut().expect("it was rendered").rendered -= FRESH;
        assert_eq!(get(2, "later"), "later");
    }
}
