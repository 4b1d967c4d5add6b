//! A small hash that is the same in every build: FNV-1a with 64 bits. It distinguishes texts and is not meant
//! for secrets.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The offset basis of FNV-1a.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
/// The prime of FNV-1a.
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// The running hash.
#[derive(Clone, Copy)]
pub(crate) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(BASIS)
    }
}

impl Fnv {
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.byte(*byte);
        }
    }

    #[inline]
    pub(crate) fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(PRIME);
    }

    /// Returns the hash, with its upper bits mixed into the lower ones.
    pub(crate) fn finish(self) -> u64 {
        self.0 ^ (self.0 >> 32).wrapping_mul(PRIME)
    }
}

/// A map with such hashes as keys, which are not hashed again.
pub(crate) type HashedMap<Value> = HashMap<u64, Value, BuildHasherDefault<Hashed>>;

/// A hasher for keys that already are hashes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        let mut hash = Fnv::default();
        hash.write(bytes);
        self.0 ^= hash.finish();
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
