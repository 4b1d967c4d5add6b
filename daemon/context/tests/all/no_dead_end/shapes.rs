//! Conversations of ten shapes, turn by turn.

use herma_context::Message;
use serde_json::{Value, json};

use super::dice::Dice;

/// The difficulty of a conversation for compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    EqualOutputs,
    OneHugeOutput,
    ManyTinyMessages,
    OnlyUserText,
    Images,
    LongHead,
    LongSystemPrompt,
    LongArguments,
    ParallelCalls,
    Cjk,
}

impl Shape {
    pub(crate) const ALL: [Self; 10] = [
        Self::EqualOutputs,
        Self::OneHugeOutput,
        Self::ManyTinyMessages,
        Self::OnlyUserText,
        Self::Images,
        Self::LongHead,
        Self::LongSystemPrompt,
        Self::LongArguments,
        Self::ParallelCalls,
        Self::Cjk,
    ];
}

/// A conversation that grows.
pub(crate) struct Talk {
    pub(crate) shape: Shape,
    /// The chars of a whole threshold.
    unit: usize,
    /// The chars of an output, if all have the same size.
    size: usize,
    calls: usize,
    turns: usize,
}

impl Talk {
    /// Creates a conversation for a threshold of so many tokens, and its first messages.
    pub(crate) fn begin(shape: Shape, threshold: u64, dice: &mut Dice) -> (Self, Vec<Message>) {
        let unit = usize::try_from(threshold).unwrap() * 4;
        let talk = Self { shape, unit, size: dice.within(unit / 60, unit / 5), calls: 0, turns: 0 };
        let system = match shape {
            Shape::LongSystemPrompt => dice.within(unit / 5, unit * 13 / 10),
            _ => 200,
        };
        let opening = match shape {
            Shape::LongHead => dice.within(unit / 10, unit / 2),
            _ => 100,
        };
        let mut first = vec![say("system", prose(system, dice)), say("user", prose(opening, dice))];
        first.push(say("assistant", prose(opening, dice)));
        (talk, messages(&first))
    }

    /// Returns the next messages. Every turn has a user message, except some that continue the task.
    pub(crate) fn turn(&mut self, dice: &mut Dice) -> Vec<Message> {
        self.turns += 1;
        let mut out: Vec<Value> = Vec::new();
        let unit = self.unit;
        // A long task continues without a new user message.
        if self.turns == 1 || !dice.one_in(3) || matches!(self.shape, Shape::ManyTinyMessages | Shape::OnlyUserText) {
            out.push(say("user", format!("Please do step {} now: {}", self.turns, prose(80, dice))));
        }
        match self.shape {
            Shape::EqualOutputs => self.outputs(&mut out, 1, 6, |talk, _| talk.size, dice),
            Shape::OneHugeOutput => {
                let huge = dice.one_in(3);
                self.outputs(&mut out, 1, 3, |_, dice| dice.within(40, unit / 40), dice);
                if huge {
                    self.outputs(&mut out, 1, 2, |_, dice| dice.within(unit / 2, unit * 2), dice);
                }
            }
            Shape::ManyTinyMessages => {
                for at in 0..dice.within(40, 80) {
                    out.push(say("assistant", format!("ok {at}")));
                    out.push(say("user", format!("next {at}")));
                }
            }
            Shape::OnlyUserText => {
                for _ in 0..dice.within(1, 4) {
                    out.push(say("user", prose(dice.within(unit / 60, unit / 5), dice)));
                }
            }
            Shape::Images => {
                if dice.one_in(3) {
                    self.outputs(&mut out, 1, 2, |_, dice| dice.within(40, unit / 40), dice);
                    let screenshot = json!([{"type": "text", "text": "the screen"}, image()]);
                    if let Some(last) = out.last_mut() {
                        last["content"] = screenshot;
                    }
                }
                out.push(say("assistant", prose(200, dice)));
                let text = json!({"type": "text", "text": format!("What is on picture {}?", self.turns)});
                out.push(json!({"role": "user", "content": [text, image()]}));
                out.push(say("assistant", prose(unit / 40, dice)));
            }
            Shape::LongHead | Shape::LongSystemPrompt => {
                self.outputs(&mut out, 1, 4, |_, dice| dice.within(100, unit / 15), dice);
            }
            Shape::LongArguments => {
                for _ in 0..dice.within(1, 4) {
                    let content = prose(dice.within(unit / 30, unit / 3), dice);
                    let arguments = json!({"path": "src/lib.rs", "content": content}).to_string();
                    self.calls += 1;
                    out.push(call(self.calls, 1, "write_file", &arguments));
                    out.push(result(self.calls, 0, "ok".to_owned()));
                }
            }
            Shape::ParallelCalls => {
                let count = dice.within(3, 25);
                self.calls += 1;
                out.push(call(self.calls, count, "terminal", r#"{"command": "rg x"}"#));
                for at in 0..count {
                    out.push(result(self.calls, at, lines(dice.within(unit / 400, unit / 20), dice)));
                }
            }
            Shape::Cjk => {
                self.outputs(&mut out, 1, 4, |_, dice| dice.within(10, unit / 30), dice);
                for value in &mut out {
                    if let Some(text) = value["content"].as_str() {
                        value["content"] = Value::from(chinese(text.len(), dice));
                    }
                }
            }
        }
        // The run may start in the middle of a task, with results outstanding or just added.
        if !dice.one_in(3) && self.shape != Shape::OnlyUserText {
            out.push(say("assistant", prose(150, dice)));
        }
        if self.shape == Shape::OnlyUserText {
            out.retain(|message| message["role"] == "user");
        }
        messages(&out)
    }

    fn outputs(
        &mut self,
        out: &mut Vec<Value>,
        low: usize,
        high: usize,
        size: impl Fn(&Self, &mut Dice) -> usize,
        dice: &mut Dice,
    ) {
        for _ in 0..dice.within(low, high) {
            self.calls += 1;
            out.push(call(self.calls, 1, "terminal", r#"{"command": "make test"}"#));
            let chars = size(self, dice);
            out.push(result(self.calls, 0, lines(chars, dice)));
        }
    }
}

fn messages(values: &[Value]) -> Vec<Message> {
    values.iter().map(|value| Message::parse(value.to_string()).unwrap()).collect()
}

fn say(role: &str, content: impl Into<String>) -> Value {
    json!({"role": role, "content": content.into()})
}

fn call(number: usize, count: usize, name: &str, arguments: &str) -> Value {
    let calls: Vec<Value> = (0..count)
        .map(|at| json!({"id": format!("c{number}_{at}"), "function": {"name": name, "arguments": arguments}}))
        .collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn result(number: usize, at: usize, content: String) -> Value {
    json!({"role": "tool", "tool_call_id": format!("c{number}_{at}"), "content": content})
}

fn image() -> Value {
    json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}})
}

fn prose(chars: usize, dice: &mut Dice) -> String {
    const WORDS: [&str; 12] =
        ["the ", "importer ", "fails ", "when ", "a ", "row ", "has ", "no ", "name; ", "and ", "it ", "stops. "];
    pieces(chars, dice, |dice, out| out.push_str(WORDS[dice.within(0, WORDS.len())]))
}

fn lines(chars: usize, dice: &mut Dice) -> String {
    pieces(chars, dice, |dice, out| {
        out.push_str(&format!("src/part{}.rs:{}: \"value\"\n", dice.within(0, 90), dice.within(0, 9_000)));
    })
}

fn chinese(chars: usize, dice: &mut Dice) -> String {
    const SIGNS: [char; 10] = ['请', '看', '文', '件', '的', '第', '一', '行', '，', '好'];
    pieces(chars, dice, |dice, out| out.push(SIGNS[dice.within(0, SIGNS.len())]))
}

fn pieces(chars: usize, dice: &mut Dice, add: impl Fn(&mut Dice, &mut String)) -> String {
    let mut out = String::new();
    while out.len() < chars {
        add(dice, &mut out);
    }
    out
}
