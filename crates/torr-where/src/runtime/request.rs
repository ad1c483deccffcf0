//! Whether a thread works on a request: a library called the user's own code, and has not got it back.

use crate::stack::Frame;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Returns whether a library called own code that has not returned yet.
///
/// Servers and pools of threads are libraries, and a handler is own code that they call. Own code that the program's or thread's
/// beginning calls is none: the thread may as well wait for work there. `is_beginning` tells such frames.
pub fn is_in_request(stack: &[Arc<Frame>], is_beginning: impl Fn(&Frame) -> bool) -> bool {
    let outer = stack.iter().skip_while(|frame| !frame.is_own).skip_while(|frame| frame.is_own);
    let mut outer = outer.filter(|frame| !is_beginning(frame));
    outer.any(|frame| !frame.is_own)
}

/// Returns the frames of libraries between the leaf and own code.
pub fn libraries(stack: &[Arc<Frame>]) -> impl Iterator<Item = &Arc<Frame>> {
    stack.iter().take_while(|frame| !frame.is_own)
}

/// Returns a number for a function, instead of the address of something that threads wait for there and that has none.
pub fn site_number(frame: Option<&Arc<Frame>>) -> u64 {
    let mut hasher = DefaultHasher::new();
    frame.map(|frame| (&frame.function, &frame.module, &frame.file)).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(frames: &str) -> Vec<Arc<Frame>> {
        let frame = |name: &str| Frame { function: name.into(), is_own: name.starts_with("own"), ..Frame::default() };
        frames.split(' ').map(|name| Arc::new(frame(name))).collect()
    }

    #[test]
    fn a_handler_is_called_by_a_library() {
        let is_in_request = |frames| is_in_request(&stack(frames), |frame| frame.function == "begin");
        assert!(is_in_request("wait get own_handler dispatch worker begin"));
        assert!(is_in_request("own_leaf own_handler dispatch own_main begin"));
        assert!(!is_in_request("wait get own_worker own_main begin"));
        assert!(!is_in_request("select serve_forever own_main begin"));
        assert!(!is_in_request("recv read worker begin"));
        assert_eq!(libraries(&stack("wait get own_handler dispatch")).count(), 2);
    }
}
