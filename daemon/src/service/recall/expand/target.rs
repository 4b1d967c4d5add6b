//! Parses the handles that lead to archived texts.

use herma_shared::messages::MessageKey;

use super::super::remote::key_of;

/// Where a page begins: a message, and a place in its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Start {
    /// The number of the message in a compression or node, or its id.
    pub message: u64,
    /// The number of chars of its text before the page.
    pub chars: u64,
}

/// The meaning of a handle.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target<'a> {
    Message(u64),
    /// Continues after an answer with messages.
    RestOfSession(Start),
    Memory(u64),
    /// A message of another host.
    Remote(MessageKey),
    /// Continues after an answer with messages of another host, from this char of the message on.
    RemoteRest(MessageKey, u64),
    Output {
        handle: &'a str,
        line: Option<u64>,
    },
    /// Continues after an answer with a part of an output.
    Rest {
        handle: &'a str,
        line: u64,
    },
    Compression {
        handle: &'a str,
        from: Start,
    },
    Node {
        handle: &'a str,
        from: Start,
    },
}

impl Start {
    /// Parses `12`, or `12.8000` for a place within message 12.
    fn parse(text: &str) -> Option<Self> {
        let (message, chars) = text.split_once('.').unwrap_or((text, "0"));
        Some(Self { message: message.parse().ok()?, chars: chars.parse().ok()? })
    }
}

impl<'a> Target<'a> {
    pub(super) fn parse(handle: &'a str) -> Option<Self> {
        let (name, part) = handle.split_once(':').map_or((handle, None), |(name, part)| (name, Some(part)));
        let from = || part.map_or(Some(Start::default()), Start::parse);
        match (name.split_once('_')?, part) {
            (("msg", id), None) => match id.split_once('@') {
                Some((message, host)) => match message.strip_suffix('+') {
                    Some(message) => {
                        let (message, chars) = message.split_once('.').unwrap_or((message, "0"));
                        Some(Self::RemoteRest(key_of(&format!("{message}@{host}"))?, chars.parse().ok()?))
                    }
                    None => key_of(id).map(Self::Remote),
                },
                None => match id.strip_suffix('+') {
                    Some(id) => Start::parse(id).map(Self::RestOfSession),
                    None => id.parse().ok().map(Self::Message),
                },
            },
            (("mem", id), None) => id.parse().ok().map(Self::Memory),
            (("out", _), None) => Some(Self::Output { handle: name, line: None }),
            (("out", _), Some(part)) => match part.strip_suffix('+') {
                Some(line) => Some(Self::Rest { handle: name, line: line.parse::<u64>().ok()?.max(1) }),
                None => Some(Self::Output { handle: name, line: Some(part.parse::<u64>().ok()?.max(1)) }),
            },
            (("cmp", _), _) => Some(Self::Compression { handle: name, from: from()? }),
            (("nod", _), _) => Some(Self::Node { handle: name, from: from()? }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_lead_to_their_kind() {
        let remote = |host: &str| MessageKey { host: host.into(), archive: 10, number: 3 };
        let at = |message, chars| Start { message, chars };
        for (handle, place) in [
            ("msg_12", Some(Target::Message(12))),
            ("mem_3", Some(Target::Memory(3))),
            ("out_ab", Some(Target::Output { handle: "out_ab", line: None })),
            ("out_ab:120", Some(Target::Output { handle: "out_ab", line: Some(120) })),
            ("out_ab:0", Some(Target::Output { handle: "out_ab", line: Some(1) })),
            ("out_ab:7+", Some(Target::Rest { handle: "out_ab", line: 7 })),
            ("msg_1:7+", None),
            ("cmp_x_2", Some(Target::Compression { handle: "cmp_x_2", from: at(0, 0) })),
            ("cmp_x_2:50", Some(Target::Compression { handle: "cmp_x_2", from: at(50, 0) })),
            ("cmp_x_2:50.800", Some(Target::Compression { handle: "cmp_x_2", from: at(50, 800) })),
            ("nod_x_2", Some(Target::Node { handle: "nod_x_2", from: at(0, 0) })),
            ("nod_x_2:50", Some(Target::Node { handle: "nod_x_2", from: at(50, 0) })),
            ("nod_x_2:5.12", Some(Target::Node { handle: "nod_x_2", from: at(5, 12) })),
            ("nod_x_2:5.", None),
            ("nod_x_2:.5", None),
            ("nod_x_2:5.-1", None),
            ("msg_x", None),
            ("msg_x@y", None),
            ("msg_0000000a-3@b", Some(Target::Remote(remote("b")))),
            ("msg_12+", Some(Target::RestOfSession(at(12, 0)))),
            ("msg_12.8000+", Some(Target::RestOfSession(at(12, 8_000)))),
            ("msg_12.8000", None),
            ("msg_0000000a-3+@b+", Some(Target::RemoteRest(remote("b+"), 0))),
            ("msg_0000000a-3.90+@b", Some(Target::RemoteRest(remote("b"), 90))),
            ("msg_12++", None),
            ("msg_+@b", None),
            ("msg_1:2", None),
            ("out_ab:x", None),
            ("", None),
            ("../etc", None),
        ] {
            assert_eq!(Target::parse(handle), place, "{handle}");
        }
    }
}
