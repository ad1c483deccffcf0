//! The arrays that all virtual users of a run share.

use crate::host::Host;
use rquickjs::Ctx;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The elements of a shared array as JSON.
pub type Elements = Arc<Vec<Box<str>>>;

/// The shared arrays of a run, by name.
#[derive(Default)]
pub struct SharedArrays(Mutex<BTreeMap<String, Elements>>);

impl std::fmt::Debug for SharedArrays {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("SharedArrays")
    }
}

impl SharedArrays {
    /// Gives a runtime the arrays of its run. A runtime without arrays has some of its own.
    pub fn attach(self: &Arc<Self>, ctx: &Ctx<'_>) {
        // User data is borrowed only within one statement of the host, so that this store cannot fail here.
        let _ = ctx.store_userdata(Host(self.clone()));
    }

    /// Returns the arrays of a runtime.
    pub fn of(ctx: &Ctx<'_>) -> Arc<Self> {
        if let Some(arrays) = ctx.userdata::<Host<Arc<SharedArrays>>>() {
            return arrays.0.clone();
        }
        let arrays = Arc::new(SharedArrays::default());
        arrays.attach(ctx);
        arrays
    }

    /// Returns the elements that have this name, if there are any.
    pub fn get(&self, name: &str) -> Option<Elements> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Returns the elements that have this name: those of another virtual user that was first, or these.
    pub fn put(&self, name: String, elements: Elements) -> Elements {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_insert(elements).clone()
    }
}
