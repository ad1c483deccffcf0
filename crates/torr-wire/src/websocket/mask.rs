//! The masking of payload (RFC 6455, section 5.3).

/// Masks payload, or unmasks it: both are the exclusive or with the key, which begins with the first byte.
#[inline]
pub fn mask(payload: &mut [u8], key: [u8; 4]) {
    let wide = u64::from_ne_bytes([key[0], key[1], key[2], key[3], key[0], key[1], key[2], key[3]]);
    let mut chunks = payload.chunks_exact_mut(8);
    for chunk in &mut chunks {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        chunk.copy_from_slice(&(u64::from_ne_bytes(word) ^ wide).to_ne_bytes());
    }
    // The rest begins at a multiple of 8, and so with the key's first byte.
    for (byte, key) in chunks.into_remainder().iter_mut().zip(key.iter().cycle()) {
        *byte ^= key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masking_is_byte_by_byte_for_any_length() {
        let key = [0x37, 0xfa, 0x21, 0x3d];
        for length in 0..70_u8 {
            let plain: Vec<u8> = (0..length).map(|n| n * 3).collect();
            let expected: Vec<u8> = plain.iter().enumerate().map(|(at, byte)| byte ^ key[at % 4]).collect();
            let mut masked = plain.clone();
            mask(&mut masked, key);
            assert_eq!(masked, expected, "{length} bytes");
            mask(&mut masked, key);
            assert_eq!(masked, plain, "{length} bytes");
        }
    }
}
