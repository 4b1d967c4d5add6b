//! The requests with which agents ask their model for the summary of a conversation, and the form of the answer that
//! each expects. No I/O.
//!
//! An agent is known by sentences of its own question, as its published version sends them. A question in other words,
//! such as one that a user configured, is left to the model.

use http::HeaderMap;
use serde_json::Value;

use crate::api::request::Asked;
use crate::api::text;
use crate::codex::{self, Compaction, METADATA};

/// A request for the summary of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The agent.
    pub agent: &'static str,
    /// What Codex says of the compaction.
    pub codex: Option<Compaction>,
    /// How many messages stand before the question.
    pub messages: usize,
    /// Whether the conversation is only quoted in the question.
    pub is_quoting: bool,
    form: Form,
}

/// The form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The summary alone.
    Text,
    /// The summary in an element of that name.
    Element(&'static str),
}

/// Where the question is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the last message of the user, after the conversation.
    LastMessage,
    /// In the system prompt, before the conversation.
    System,
}

/// The question of an agent.
struct Question {
    agent: &'static str,
    place: Place,
    /// Sentences that are all in it.
    sentences: &'static [&'static str],
    is_quoting: bool,
    form: Form,
}

/// The questions of agents, in the versions in the comments.
const QUESTIONS: [Question; 15] = [
    // 2.1.332. It is sent behind the conversation; other questions summarize only a part of it.
    Question {
        agent: "claude-code",
        place: Place::LastMessage,
        sentences: &["CRITICAL: Respond with TEXT ONLY", "create a detailed summary of the conversation so far"],
        is_quoting: false,
        form: Form::Element("summary"),
    },
    // 0.24.4, with the agent's own system prompt, and with a short list in a request of its own.
    Question {
        agent: "qwen-code",
        place: Place::LastMessage,
        sentences: &["You are the component that summarizes a conversation when its context window"],
        is_quoting: false,
        form: Form::Element("state_snapshot"),
    },
    Question {
        agent: "qwen-code",
        place: Place::System,
        sentences: &["You are the component that summarizes a conversation when its context window"],
        is_quoting: false,
        form: Form::Element("state_snapshot"),
    },
    // 1.0.102.
    Question {
        agent: "copilot",
        place: Place::LastMessage,
        sentences: &["create a detailed summary of the conversation so far. The history is being compacted"],
        is_quoting: false,
        form: Form::Text,
    },
    // 3.0.3.
    Question {
        agent: "vibe",
        place: Place::LastMessage,
        sentences: &["CONTEXT CHECKPOINT COMPACTION", "Exclude this entire message from the summary"],
        is_quoting: false,
        form: Form::Element("summary"),
    },
    Question {
        agent: "vibe",
        place: Place::System,
        sentences: &["You are a dedicated conversation summarizer. You read a transcript of a conversation"],
        is_quoting: true,
        form: Form::Element("summary"),
    },
    // 7.8.1, a fork of OpenCode.
    Question {
        agent: "kilo",
        place: Place::System,
        sentences: &["You are Kilo", "You are a context summarization agent. You are given a conversation"],
        is_quoting: true,
        form: Form::Text,
    },
    // 1.18.33.
    Question {
        agent: "opencode",
        place: Place::System,
        sentences: &["You are a context summarization agent. You are given a conversation between a user and an agent"],
        is_quoting: true,
        form: Form::Text,
    },
    // 1.6.0.
    Question {
        agent: "pi",
        place: Place::System,
        sentences: &["You are a context summarization assistant. Your task is to read a conversation"],
        is_quoting: true,
        form: Form::Text,
    },
    // 3.0.65.
    Question {
        agent: "cline",
        place: Place::System,
        sentences: &["Summarize the provided coding session into a concise continuation note"],
        is_quoting: true,
        form: Form::Text,
    },
    // 1.52.0.
    Question {
        agent: "kimi",
        place: Place::System,
        sentences: &["You are a helpful assistant that compacts conversation context"],
        is_quoting: true,
        form: Form::Text,
    },
    // The SDK, 1.58.2.
    Question {
        agent: "openhands",
        place: Place::System,
        sentences: &["You are maintaining a context-aware state summary for an interactive agent"],
        is_quoting: true,
        form: Form::Text,
    },
    // 0.86.2.
    Question {
        agent: "aider",
        place: Place::System,
        sentences: &["*Briefly* summarize this partial conversation about programming"],
        is_quoting: true,
        form: Form::Text,
    },
    // LangChain's middleware, 1.5.2, which deepagents use, too.
    Question {
        agent: "langchain",
        place: Place::LastMessage,
        sentences: &["Context Extraction Assistant", "most relevant context from the conversation history below"],
        is_quoting: true,
        form: Form::Text,
    },
    // Anthropic's SDK with `compaction_control`, 0.79.0.
    Question {
        agent: "anthropic-sdk",
        place: Place::LastMessage,
        sentences: &["You have been working on the task described above but have not yet completed it"],
        is_quoting: false,
        form: Form::Element("summary"),
    },
];

/// What is in a question about a part of the conversation only, which the model answers.
const OF_A_PART: [&str; 2] = ["are earlier context from an ongoing conversation", "Summarize conversation chunk"];

impl Summary {
    /// Returns the request for a summary that a request is; `None` for any other one.
    #[must_use]
    pub fn of(asked: &Asked, headers: &HeaderMap) -> Option<Self> {
        let last = asked.items.len().checked_sub(1)?;
        if let Some(metadata) = headers.get(METADATA).and_then(|value| value.to_str().ok())
            && let Some(compaction) = codex::compaction(metadata)
        {
            // The answer is read as a stream.
            let summary =
                Self { agent: "codex", codex: Some(compaction), messages: last, is_quoting: false, form: Form::Text };
            return asked.is_stream.then_some(summary);
        }
        let question = asked.items.get(last).filter(|item| item.get("role").is_some_and(|role| role == "user"))?;
        let question = content(question);
        if OF_A_PART.iter().any(|sentence| question.contains(sentence)) {
            return None;
        }
        let known = QUESTIONS.iter().find(|known| {
            let text = match known.place {
                Place::LastMessage => &question,
                Place::System => &asked.system,
            };
            known.sentences.iter().all(|sentence| text.contains(sentence))
        })?;
        let Question { agent, is_quoting, form, .. } = *known;
        Some(Self { agent, codex: None, messages: last, is_quoting, form })
    }

    /// Returns the text that quotes the conversation.
    #[must_use]
    pub fn quoted(&self, asked: &Asked) -> String {
        asked.items.iter().map(content).collect::<Vec<_>>().join("\n")
    }

    /// Returns the handoff as the agent expects its summary.
    #[must_use]
    pub fn shaped(&self, handoff: &str) -> String {
        match self.form {
            Form::Text => handoff.to_owned(),
            Form::Element(name) => format!("<{name}>\n{handoff}\n</{name}>"),
        }
    }
}

fn content(item: &Value) -> String {
    text(item.get("content").unwrap_or(&Value::Null))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::Api;

    fn of(system: &str, items: &Value) -> Option<Summary> {
        let body = json!({ "system": system, "messages": items });
        let asked = Asked::read(Api::Messages, &HeaderMap::new(), body.to_string().as_bytes()).unwrap();
        Summary::of(&asked, &HeaderMap::new())
    }

    #[test]
    fn each_question_is_known_where_it_stands_and_nowhere_else() {
        let user = |text: &str| json!({ "role": "user", "content": text });
        for question in QUESTIONS {
            let words = question.sentences.join("\nand more\n");
            let (system, last) = match question.place {
                Place::LastMessage => ("be brief", words.as_str()),
                Place::System => (words.as_str(), "<conversation>"),
            };
            let found = of(system, &json!([user("hello"), user(last)])).unwrap();
            assert_eq!((found.agent, found.messages, found.is_quoting), (question.agent, 1, question.is_quoting));
            assert_eq!(found.form, question.form);
            // Somebody talks about it, and the agent goes on.
            assert_eq!(of("be brief", &json!([user(&words), user("what is that?")])), None, "{words}");
            let answered = json!([user(last), { "role": "assistant", "content": "so" }]);
            assert_eq!(of(system, &answered), None, "{words}");
        }
        assert_eq!(of("be brief", &json!([user("please summarize the conversation")])), None);
        assert_eq!(of("be brief", &json!([])), None);
    }

    #[test]
    fn a_part_of_a_conversation_is_left_to_the_model() {
        let system = "You are a context summarization assistant. Your task is to read a conversation between";
        let asked = |text: &str| of(system, &json!([{ "role": "user", "content": text }]));
        assert!(asked("<conversation>\n[User]: hello\n</conversation>").is_some());
        assert!(
            asked("# Instructions\nThe messages above are earlier context from an ongoing conversation.").is_none()
        );
    }

    #[test]
    fn an_answer_has_the_form_that_the_agent_reads() {
        let shaped = |form| Summary { agent: "a", codex: None, messages: 0, is_quoting: false, form }.shaped("text");
        assert_eq!((shaped(Form::Text), shaped(Form::Element("e"))), ("text".into(), "<e>\ntext\n</e>".into()));
    }
}
