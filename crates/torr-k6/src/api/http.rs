//! `k6/http`.

use cookie_store::CookieStore;
use std::cell::RefCell;

/// What `k6/http` knows of a virtual user.
#[derive(Debug, Default)]
pub struct HttpState {
    /// The cookies of the user.
    pub jar: RefCell<CookieStore>,
}

impl HttpState {
    /// Forgets everything.
    pub fn clear(&self) {
        self.jar.borrow_mut().clear();
    }
}
