//! What `coz.h` does for C: a progress point of coz, and an end at SIGTERM at which coz writes its profile.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A counter of coz; its second field is not used.
#[repr(C)]
struct Counter {
    count: AtomicUsize,
    backoff: usize,
}

type GetCounter = unsafe extern "C" fn(c_int, *const c_char) -> *const Counter;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, symbol: *const c_char) -> *mut c_void;
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> *mut c_void;
    fn exit(code: c_int) -> !;
}

const THROUGHPUT: c_int = 1;
const SIGTERM: c_int = 15;
const NAME: &CStr = c"response";

/// Finds the counter in coz, which loads itself into the program. `None` without coz.
fn counter() -> Option<&'static Counter> {
    // SAFETY: the names end with NUL; coz' function has this type, and its counters live as long as the program.
    unsafe {
        let found = dlsym(std::ptr::null_mut(), c"_coz_get_counter".as_ptr());
        (!found.is_null()).then(|| std::mem::transmute::<*mut c_void, GetCounter>(found)(THROUGHPUT, NAME.as_ptr()).as_ref())?
    }
}

/// Counts a response.
pub fn response() {
    static FOUND: OnceLock<Option<&'static Counter>> = OnceLock::new();
    if let Some(counter) = FOUND.get_or_init(counter) {
        counter.count.fetch_add(1, Ordering::Relaxed);
    }
}

extern "C" fn end(_: c_int) {
    // SAFETY: the program has nothing to lose, and coz' function that runs at its end writes the profile.
    unsafe { exit(0) }
}

/// Lets SIGTERM end the program as if by itself.
pub fn ends_at_sigterm() {
    // SAFETY: the handler has the type that the system asks for.
    unsafe { signal(SIGTERM, end) };
}
