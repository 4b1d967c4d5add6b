//! FNV-1a (Fowler, Noll, Vo). It is faster for short words than the hash of the standard library, and the same in every
//! process. Colliding words gain an attacker nothing: lookups are for words of fixed lists, and of one text.

use std::hash::{BuildHasherDefault, Hasher};

/// Builds hashers for maps of words.
pub(crate) type Words = BuildHasherDefault<Fnv>;

/// Returns the 32-bit hash of a text.
pub(crate) fn fnv32(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The 64-bit hash of a stream of bytes.
pub(crate) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_values_come_out() {
        assert_eq!((fnv32(""), fnv32("a"), fnv32("foobar")), (0x811c_9dc5, 0xe40c_292c, 0xbf9c_f968));
        let mut hash = Fnv::default();
        hash.write(b"foobar");
        assert_eq!(hash.finish(), 0x8594_4171_f739_67e8);
    }
}
