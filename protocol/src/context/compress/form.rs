//! How a [`CompressResult`] looks on the wire: the members of one of its two forms, without
//! a tag in JSON; in a binary frame the first byte tells, which a [`Compressed`] begins with 0
//! or 1.

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};
use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{CompressResult, Compressed, Edits, NeedsSummary, Report};
use crate::Json;

/// The first byte of a result that needs a summary.
const NEEDS_SUMMARY: u8 = 2;

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

impl Encode for CompressResult {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        match self {
            Self::Done(compressed) => compressed.encode(encoder),
            Self::NeedsSummary(needs_summary) => {
                NEEDS_SUMMARY.encode(encoder)?;
                needs_summary.encode(encoder)
            }
        }
    }
}

impl<Context> Decode<Context> for CompressResult {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let messages = match u8::decode(decoder)? {
            0 => None,
            1 => Some(Vec::decode(decoder)?),
            NEEDS_SUMMARY => return Ok(Self::NeedsSummary(NeedsSummary::decode(decoder)?)),
            _ => return Err(DecodeError::Other("a result of context.compress that is not known")),
        };
        let (edits, report) = (Option::decode(decoder)?, Report::decode(decoder)?);
        Ok(Self::Done(Box::new(Compressed { messages, edits, report })))
    }
}

bincode::impl_borrow_decode!(CompressResult);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::binary;
    use crate::context::SummaryRequest;

    #[test]
    fn each_form_comes_back_from_both_codecs() {
        let message = || Json::parse(r#"{"role":"user", "content":"é"}"#.into()).unwrap();
        let report = Report { session: "s".into(), elapsed_ms: 1.5, ..Report::default() };
        let request =
            SummaryRequest { task: "compression".into(), model: None, messages: vec![message()], max_tokens: 9 };
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
            assert_eq!(binary::read::<CompressResult>(&binary::pack(&result).unwrap()).unwrap(), result);
            if let CompressResult::Done(compressed) = &result {
                assert_eq!(binary::pack(&result).unwrap(), binary::pack(&**compressed).unwrap());
            }
        }
        assert!(binary::read::<CompressResult>(&[3]).is_err());
        assert!(serde_json::from_str::<CompressResult>("{}").is_err());
    }
}
