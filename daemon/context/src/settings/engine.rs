//! The names of the engines.

/// The engine of a session; [`mod@crate::engine`] has its interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Replaces the middle of a list with one summary.
    #[default]
    Compressor,
    /// Replaces it with a map of parts, each of which can be opened again.
    Lossless,
}

impl Engine {
    /// All engines, with their names in the configuration and on the wire.
    pub const NAMED: &[(&str, Self)] = &[("compressor", Self::Compressor), ("lossless", Self::Lossless)];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, engine)| *engine == self).map_or("", |(name, _)| name)
    }

    /// Returns the engine of that name; `None` for any other.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, engine)| *engine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_has_a_name_of_its_own() {
        for (name, engine) in Engine::NAMED {
            assert_eq!((engine.name(), Engine::from_name(name)), (*name, Some(*engine)));
        }
        assert_eq!(Engine::default().name(), "compressor");
        assert_eq!(Engine::from_name("lossy"), None);
    }
}
