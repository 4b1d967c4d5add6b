//! The wire form of a [`CompressResult`]: the fields of one of its two variants, without a tag.

use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{CompressResult, Compressed, Edits, NeedsSummary, Report};
use crate::Json;

impl Serialize for CompressResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Done(compressed) => compressed.serialize(serializer),
            Self::NeedsSummary(needs_summary) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("needs_summary", needs_summary)?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for CompressResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Members {
            #[serde(default, with = "crate::attached")]
            messages: Option<Vec<Json>>,
            edits: Option<Edits>,
            report: Option<Report>,
            needs_summary: Option<NeedsSummary>,
        }
        let Members { messages, edits, report, needs_summary } = Members::deserialize(deserializer)?;
        match (needs_summary, report) {
            (Some(needs_summary), _) => Ok(Self::NeedsSummary(needs_summary)),
            (None, Some(report)) => Ok(Self::Done(Box::new(Compressed { messages, edits, report }))),
            (None, None) => Err(D::Error::missing_field("report")),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::context::SummaryRequest;
    use crate::{Incoming, Reply, binary};

    #[test]
    fn each_form_comes_back() {
        let message = || Json::parse(r#"{"role":"user", "content":"é"}"#.into()).unwrap();
        let report = Report { session: "s".into(), elapsed_ms: 1.5, ..Report::default() };
        let request = SummaryRequest {
            task: "compression".into(),
            model: None,
            messages: vec![message()],
            max_tokens: 9,
            place: None,
        };
        for result in [
            CompressResult::Done(Box::new(Compressed {
                messages: Some(vec![message()]),
                edits: None,
                report: report.clone(),
            })),
            CompressResult::Done(Box::new(Compressed { messages: None, edits: Some(Edits::default()), report })),
            CompressResult::NeedsSummary(NeedsSummary { ticket: "t".into(), request }),
        ] {
            let json = serde_json::to_string(&result).unwrap();
            assert_eq!(serde_json::from_str::<CompressResult>(&json).unwrap(), result, "{json}");
            let reply = Ok(Reply::ContextCompress(result.clone()));
            let mut frame = Vec::new();
            binary::append_reply(1, &reply, &mut frame).unwrap();
            assert_eq!(binary::read_incoming(frame.split_off(4)).unwrap(), Incoming::Reply(Some(1), reply));
            if let CompressResult::Done(compressed) = &result {
                assert_eq!(serde_json::to_string(&**compressed).unwrap(), json);
            }
        }
        assert!(serde_json::from_str::<CompressResult>("{}").is_err());
    }
}
