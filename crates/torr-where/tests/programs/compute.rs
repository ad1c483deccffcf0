//! A thread that computes: most of its time in `render_page`, the rest in `parse_request`.
use std::hint::black_box;
use std::io::Write;

#[inline(never)]
fn mix(seed: u64, rounds: u64) -> u64 {
    (0..rounds).fold(seed, |state, round| black_box(state.rotate_left(5) ^ round).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[inline(never)]
fn render_page(seed: u64) -> u64 {
    let mut words: Vec<u64> = (0..2000).map(|n| n ^ seed).collect();
    for round in 0..40 {
        words.sort_unstable_by_key(|word| black_box(word.wrapping_mul(round | 1)));
    }
    black_box(words[7])
}

#[inline(never)]
fn parse_request(seed: u64) -> u64 {
    black_box(mix(seed, 40_000))
}

fn main() {
    println!("ready");
    std::io::stdout().flush().expect("it is a pipe");
    let mut seed = 1;
    loop {
        seed = parse_request(seed) ^ render_page(seed);
    }
}
