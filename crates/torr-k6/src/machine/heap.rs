//! The memory of a thread's script engines, which all its virtual users share.
//!
//! Each request of a thousand users touches the memory of another one, so that most of the time goes into finding it: with pages of 4 KiB
//! the CPU walks the tables of pages again and again. Large pages need so few entries that the CPU keeps them all. What a request allocates
//! for a short time is taken from what the request before it has freed, also where that was another user's.

use rquickjs::allocator::Allocator;
use rustix::mm::{Advice, madvise};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::rc::Rc;
use talc::TalcCell;
use talc::source::GlobalAllocSource;

/// The size and the alignment in bytes of a large page.
const PAGE: usize = 2 << 20;
/// The number of bytes that are reserved at a time. Only pages that are used take memory.
const BLOCK: usize = 32 << 20;
/// The number of bytes before an allocation, which have its size.
const HEADER: usize = size_of::<usize>();

thread_local! {
    static HEAP: Heap = Heap(Rc::new(TalcCell::new(GlobalAllocSource::with_block_size(LargePages, BLOCK))));
}

/// Memory of the system in large pages.
#[derive(Debug)]
struct LargePages;

impl LargePages {
    fn layout(layout: Layout) -> Layout {
        layout.align_to(PAGE).map_or(layout, |layout| layout.pad_to_align())
    }
}

// SAFETY: the memory is the system's. The advice changes how it is mapped, not what is in it.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let layout = Self::layout(layout);
        // SAFETY: the caller's layout is not empty.
        unsafe {
            let memory = System.alloc(layout);
            if !memory.is_null() {
                // Without large pages, or where none is free, the memory has small ones.
                let _ = madvise(memory.cast(), layout.size(), Advice::LinuxHugepage);
            }
            memory
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the memory was allocated with this layout, which follows from the caller's.
        unsafe { System.dealloc(memory, Self::layout(layout)) }
    }
}

/// The memory of a thread's script engines.
#[derive(Clone)]
pub(super) struct Heap(Rc<TalcCell<GlobalAllocSource<LargePages>>>);

impl Heap {
    /// Returns this thread's memory.
    pub fn of_thread() -> Self {
        HEAP.with(Clone::clone)
    }

    /// Returns the layout of an allocation of so many bytes with its header. `None` if they are too many.
    fn layout(size: usize) -> Option<Layout> {
        Layout::from_size_align(size.checked_add(HEADER)?, HEADER).ok()
    }

    /// Writes the header of an allocation, and returns what follows it.
    ///
    /// # Safety
    /// `base` is null or an allocation with a header for so many bytes.
    unsafe fn with_header(base: *mut u8, size: usize) -> *mut u8 {
        if base.is_null() {
            return base;
        }
        // SAFETY: the caller says that the header is part of the allocation, which is aligned to it.
        unsafe {
            base.cast::<usize>().write(size);
            base.add(HEADER)
        }
    }

    /// Returns the begin of an allocation with its layout.
    ///
    /// # Safety
    /// `memory` was returned by a heap, and was not given back.
    unsafe fn base(memory: *mut u8) -> (*mut u8, Layout) {
        // SAFETY: the header precedes what a heap has returned, and its size had a layout then.
        unsafe {
            let base = memory.sub(HEADER);
            let size = base.cast::<usize>().read();
            (base, Layout::from_size_align_unchecked(size + HEADER, HEADER))
        }
    }
}

// SAFETY: each allocation is one of the shared allocator with a header of its own, so that none overlaps another one, and it has as many
// bytes as are wanted, aligned to a word.
unsafe impl Allocator for Heap {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        let Some(layout) = Self::layout(size) else { return ptr::null_mut() };
        // SAFETY: the layout has a header, and so is not empty.
        unsafe { Self::with_header(self.0.alloc(layout), size) }
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some((size, layout)) = count.checked_mul(size).and_then(|size| Some((size, Self::layout(size)?))) else {
            return ptr::null_mut();
        };
        // SAFETY: as above.
        unsafe { Self::with_header(self.0.alloc_zeroed(layout), size) }
    }

    unsafe fn dealloc(&mut self, memory: *mut u8) {
        // SAFETY: the caller returns what it got from here.
        unsafe {
            let (base, layout) = Self::base(memory);
            self.0.dealloc(base, layout);
        }
    }

    unsafe fn realloc(&mut self, memory: *mut u8, size: usize) -> *mut u8 {
        let Some(wanted) = Self::layout(size) else { return ptr::null_mut() };
        // SAFETY: as above; the new size has a layout.
        unsafe {
            let (base, layout) = Self::base(memory);
            Self::with_header(self.0.realloc(base, layout, wanted.size()), size)
        }
    }

    unsafe fn usable_size(memory: *mut u8) -> usize {
        // SAFETY: as above.
        unsafe { Self::base(memory).1.size() - HEADER }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_keep_their_content_and_their_sizes() {
        let mut heap = Heap::of_thread();
        let sizes = [1, 7, 8, 100, 4096, 300_000, BLOCK + 1];
        let fill = |memory: *mut u8, size: usize, byte: u8| {
            assert!(!memory.is_null() && memory.addr().is_multiple_of(HEADER));
            // SAFETY: the heap has returned so many bytes.
            unsafe { ptr::write_bytes(memory, byte, size) };
        };
        let all = |memory: *mut u8, size: usize, byte: u8| {
            // SAFETY: as above, and all of them were written.
            unsafe { std::slice::from_raw_parts(memory, size) }.iter().all(|found| *found == byte)
        };
        let mut kept: Vec<_> = (1..).zip(sizes).map(|(byte, size)| (byte, size, heap.alloc(size))).collect();
        kept.iter().for_each(|&(byte, size, memory)| fill(memory, size, byte));
        for (byte, size, memory) in &mut kept {
            // SAFETY: the memory is the heap's.
            unsafe {
                assert_eq!(Heap::usable_size(*memory), *size);
                *memory = heap.realloc(*memory, *size * 2);
                assert_eq!(Heap::usable_size(*memory), *size * 2);
            }
            assert!(all(*memory, *size, *byte), "{size}");
        }
        let zeroed = heap.calloc(3, 1000);
        assert!(all(zeroed, 3000, 0));
        for memory in kept.into_iter().map(|(_, _, memory)| memory).chain([zeroed]) {
            // SAFETY: as above, and each is given back once.
            unsafe { heap.dealloc(memory) };
        }
        assert!(heap.alloc(usize::MAX).is_null() && heap.calloc(usize::MAX, 2).is_null());
    }
}
