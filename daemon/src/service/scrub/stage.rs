//! The stages of a scrub, as cursors. No I/O.

/// Where the next part of the work begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stage {
    /// At the messages after this id.
    Messages(i64),
    /// At the outputs after this handle.
    Outputs(String),
    /// At the stores and their journals.
    Memory,
    /// At all other texts of the archive.
    Texts,
    /// At the words of the index.
    Index,
    /// At the search through the files.
    Files,
}

impl Stage {
    /// Reads a cursor.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            Some(("messages", id)) => id.parse().ok().map(Self::Messages),
            Some(("outputs", handle)) => Some(Self::Outputs(handle.to_owned())),
            Some(_) => None,
            None => {
                [Self::Memory, Self::Texts, Self::Index, Self::Files].into_iter().find(|stage| stage.name() == text)
            }
        }
    }

    /// Returns the stage as a cursor.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Messages(id) => format!("messages:{id}"),
            Self::Outputs(handle) => format!("outputs:{handle}"),
            other => other.name().to_owned(),
        }
    }

    /// Returns the stage's name on the wire.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Messages(_) => "messages",
            Self::Outputs(_) => "outputs",
            Self::Memory => "memory",
            Self::Texts => "texts",
            Self::Index => "index",
            Self::Files => "files",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_is_read_from_its_cursor() {
        for stage in [
            Stage::Messages(0),
            Stage::Messages(i64::MAX),
            Stage::Outputs(String::new()),
            Stage::Outputs("out_1".into()),
            Stage::Memory,
            Stage::Texts,
            Stage::Index,
            Stage::Files,
        ] {
            assert_eq!(Stage::parse(&stage.text()), Some(stage));
        }
        for other in ["", "messages", "messages:", "messages:x", "outputs", "files:1"] {
            assert_eq!(Stage::parse(other), None, "{other}");
        }
    }
}
