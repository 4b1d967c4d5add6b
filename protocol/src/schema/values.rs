//! Schemas of types with hand-written serialization.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::Json;
use crate::context::{CompressResult, Compressed, NeedsSummary};
use crate::value::{Content, Size, TextOrOff, TokensOrConfigured};

impl JsonSchema for Json {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        true.into()
    }
}

impl JsonSchema for Size {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A size in chars, or no limit at all.",
            "anyOf": [{"type": "integer", "minimum": 0}, {"const": "inf"}],
        })
    }
}

impl JsonSchema for TextOrOff {
    fn schema_name() -> Cow<'static, str> {
        "TextOrOff".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A text, or `false` to switch off what happens when the param is absent.",
            "anyOf": [{"type": "string"}, {"const": false}],
        })
    }
}

impl JsonSchema for TokensOrConfigured {
    fn schema_name() -> Cow<'static, str> {
        "TokensOrConfigured".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number of tokens, or `true` for the configured one.",
            "anyOf": [{"type": "integer", "minimum": 1}, {"const": true}],
        })
    }
}

impl JsonSchema for Content {
    fn schema_name() -> Cow<'static, str> {
        "Content".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The content of a tool result: a text, or a list of parts, each exactly as the agent has it.",
            "anyOf": [{"type": "string"}, {"type": "array", "items": true}],
        })
    }
}

impl JsonSchema for CompressResult {
    fn schema_name() -> Cow<'static, str> {
        "CompressResult".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Result of `context.compress` and `context.resume`: the list or its edits, or the summary \
                            that the caller is to write first.",
            "anyOf": [
                generator.subschema_for::<Compressed>(),
                {
                    "type": "object",
                    "properties": {"needs_summary": generator.subschema_for::<NeedsSummary>()},
                    "required": ["needs_summary"],
                },
            ],
        })
    }
}
