//! Edits JSON. The order, comments and format of the rest stay as they are. No I/O.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use super::wanted::{is_own, program_of};

/// The key of the hooks.
const HOOKS: &str = "hooks";

/// The key of the MCP servers in Claude Code's files.
const SERVERS: &str = "mcpServers";

/// The keys of the permissions in Claude Code's settings.
const PERMISSIONS: &str = "permissions";
const ALLOW: &str = "allow";

/// The permission for the tool that reads outputs.
pub(crate) const READS_OUTPUTS: &str = "mcp__herma__output_read";

/// Makes these hooks the only hooks of herma in an agent's settings. An empty list removes them all.
///
/// # Errors
/// The text is not a JSON object, or the entry for hooks has the wrong type.
pub(crate) fn with_hooks(text: &str, agent: &str, wanted: &[(&str, Value)]) -> Result<String, String> {
    let known = hooks(text, agent)?;
    let is_known =
        |(event, hook): &(&str, Value)| known.iter().any(|known| (known.0.as_str(), &known.1) == (*event, hook));
    if known.len() == wanted.len() && wanted.iter().all(is_known) {
        return Ok(text.to_owned());
    }
    let (root, object) = parse(text)?;
    remove_hooks(&object, agent)?;
    if !wanted.is_empty() {
        let all = object.object_value_or_create(HOOKS).ok_or("`hooks` is no object")?;
        for (event, hook) in wanted {
            let of_event = all.array_value_or_create(event).ok_or_else(|| format!("`hooks.{event}` is no list"))?;
            of_event.append(input(hook));
        }
    }
    Ok(root.to_string())
}

/// Returns the groups with hooks of herma in an agent's settings, by event.
///
/// # Errors
/// The text is not a JSON object.
pub(crate) fn hooks(text: &str, agent: &str) -> Result<Vec<(String, Value)>, String> {
    let own = |(_, group): &(String, Value)| own_hooks(group, agent).next().is_some();
    Ok(groups(text)?.into_iter().map(|(event, _, group)| (event, group)).filter(own).collect())
}

/// Returns whether an agent's settings switch all hooks off.
pub(crate) fn are_off(text: &str) -> bool {
    let settings = parse(text.trim_start_matches('\u{feff}')).ok();
    let value = settings.and_then(|(_, object)| object.get("disableAllHooks")?.value());
    value.and_then(|value| value.as_boolean_lit()).is_some_and(|value| value.value())
}

/// Returns a whole number of the settings.
pub(crate) fn number(text: &str, name: &str) -> Option<u64> {
    let (_, object) = parse(text.trim_start_matches('\u{feff}')).ok()?;
    object.get(name)?.value()?.as_number_lit()?.to_string().trim().parse().ok()
}

/// Adds the hooks of herma in the settings `settings` to another text.
///
/// # Errors
/// One of the texts is not a JSON object, or its `hooks` is not an object.
pub(crate) fn with_hooks_of(settings: &str, text: &str, agent: &str) -> Result<String, String> {
    let hooks = hooks(settings, agent)?;
    let hooks: Vec<(&str, Value)> = hooks.iter().map(|(event, hook)| (event.as_str(), hook.clone())).collect();
    with_hooks(text, agent, &hooks)
}

/// Returns the programs that herma's hooks start.
///
/// # Errors
/// The text is not a JSON object.
pub(crate) fn programs(text: &str, agent: &str) -> Result<Vec<String>, String> {
    Ok(commands(text, agent)?.iter().filter_map(|command| program_of(command, agent)).collect())
}

/// Returns the commands of herma's hooks in a settings file.
pub(crate) fn commands(text: &str, agent: &str) -> Result<Vec<String>, String> {
    let of_group = |(_, group): &(String, Value)| {
        let hooks = group.get(HOOKS).and_then(Value::as_array).cloned().unwrap_or_default();
        let command = |hook: Value| hook.get("command").and_then(Value::as_str).map(str::to_owned);
        hooks.into_iter().filter_map(command).filter(|command| is_own(command, agent)).collect::<Vec<_>>()
    };
    Ok(hooks(text, agent)?.iter().flat_map(of_group).collect())
}

/// Returns the places of herma's hooks in Codex's notation: the event in snake case, the index of the group and the
/// index of the hook.
pub(crate) fn places(text: &str, agent: &str) -> Vec<String> {
    let small = |event: &str| {
        let parts = event.char_indices().map(|(at, char)| {
            let between = if at > 0 && char.is_uppercase() { "_" } else { "" };
            format!("{between}{}", char.to_lowercase())
        });
        parts.collect::<String>()
    };
    let of_group = |(event, group, value): &(String, usize, Value)| {
        own_hooks(value, agent).map(|hook| format!("{}:{group}:{hook}", small(event))).collect::<Vec<_>>()
    };
    groups(text).unwrap_or_default().iter().flat_map(of_group).collect()
}

/// Returns all groups, with their events and indexes.
fn groups(text: &str) -> Result<Vec<(String, usize, Value)>, String> {
    let (_, object) = parse(text)?;
    let Some(Value::Object(events)) = object.object_value(HOOKS).and_then(|hooks| hooks.to_serde_value()) else {
        return Ok(Vec::new());
    };
    let of_event = |(event, groups): (String, Value)| {
        let groups = groups.as_array().cloned().unwrap_or_default();
        groups.into_iter().enumerate().map(move |(at, group)| (event.clone(), at, group))
    };
    Ok(events.into_iter().flat_map(of_event).collect())
}

/// Adds or replaces an MCP server in settings of Claude Code, or removes it with `None`.
///
/// # Errors
/// The text is not a JSON object, or the entry for servers has the wrong type, or another program has this name.
pub(crate) fn with_server(text: &str, name: &str, server: Option<&Value>) -> Result<String, String> {
    let (root, object) = parse(text)?;
    let known = object.object_value(SERVERS).and_then(|servers| servers.get(name));
    let is_there = known.as_ref().and_then(|known| known.value()).and_then(|value| value.to_serde_value());
    if is_there.as_ref().is_some_and(|there| !is_own_server(there)) {
        return match server {
            Some(_) => Err(format!("the MCP server `{name}` is another program than herma; give it another name")),
            None => Ok(text.to_owned()),
        };
    }
    // Fields that a user added, such as `env`, stay.
    let says =
        |name: &str| is_there.as_ref().and_then(|there| there.get(name)) == server.and_then(|server| server.get(name));
    if is_there.is_some() == server.is_some() && says("command") && says("args") {
        return Ok(text.to_owned());
    }
    match (known, server) {
        (Some(known), Some(Value::Object(server))) if known.object_value().is_some() => {
            let fields = known.object_value_or_set();
            for (name, value) in server {
                match fields.get(name) {
                    Some(field) => field.set_value(input(value)),
                    None => drop(fields.append(name, input(value))),
                }
            }
        }
        (Some(known), Some(server)) => known.set_value(input(server)),
        (None, Some(server)) => {
            let servers = object.object_value_or_create(SERVERS).ok_or("`mcpServers` is no object")?;
            servers.append(name, input(server));
        }
        (Some(known), None) => {
            known.remove();
            remove_if_empty(&object, SERVERS);
        }
        (None, None) => {}
    }
    Ok(root.to_string())
}

/// Replaces herma's permissions in settings of Claude Code. An empty list removes them.
///
/// # Errors
/// The text or its `permissions` is not a JSON object, or `permissions.allow` is not a list.
pub(crate) fn with_permissions(text: &str, wanted: &[String]) -> Result<String, String> {
    if permissions(text)? == wanted {
        return Ok(text.to_owned());
    }
    let (root, object) = parse(text)?;
    if let Some(allowed) = object.object_value(PERMISSIONS).and_then(|all| all.array_value(ALLOW)) {
        let own = allowed.elements().into_iter().filter(|one| is_own_permission(one.to_serde_value().as_ref()));
        own.for_each(CstNode::remove);
    }
    if wanted.is_empty() {
        if let Some(all) = object.object_value(PERMISSIONS)
            && let Some(allowed) = all.get(ALLOW)
            && allowed.array_value().is_some_and(|allowed| allowed.elements().is_empty())
        {
            allowed.remove();
        }
        remove_if_empty(&object, PERMISSIONS);
        return Ok(root.to_string());
    }
    let all = object.object_value_or_create(PERMISSIONS).ok_or("`permissions` is no object")?;
    let allowed = all.array_value_or_create(ALLOW).ok_or("`permissions.allow` is no list")?;
    for one in wanted {
        allowed.append(CstInputValue::String(one.clone()));
    }
    Ok(root.to_string())
}

/// Returns herma's permissions in settings of Claude Code.
///
/// # Errors
/// The text is not a JSON object.
pub(crate) fn permissions(text: &str) -> Result<Vec<String>, String> {
    let (_, object) = parse(text)?;
    let all = object.object_value(PERMISSIONS).and_then(|all| all.array_value(ALLOW));
    let all = all.into_iter().flat_map(|allowed| allowed.elements()).filter_map(|one| one.to_serde_value());
    let own = all.filter(|one| is_own_permission(Some(one)));
    Ok(own.filter_map(|one| one.as_str().map(str::to_owned)).collect())
}

/// Returns the permission to read the files of a folder. The folder is an absolute path.
pub(crate) fn reads(folder: &str) -> String {
    format!("Read(/{folder}/**)")
}

fn is_own_permission(permission: Option<&Value>) -> bool {
    let Some(permission) = permission.and_then(Value::as_str) else { return false };
    permission == READS_OUTPUTS || permission.starts_with("Read(//") && permission.ends_with("/herma/outputs/**)")
}

/// Returns herma's MCP server in settings of Claude Code.
///
/// # Errors
/// The text is not a JSON object.
pub(crate) fn server(text: &str, name: &str) -> Result<Option<Value>, String> {
    let (_, object) = parse(text)?;
    let server = object.object_value(SERVERS).and_then(|servers| servers.get(name)).and_then(|server| server.value());
    Ok(server.and_then(|server| server.to_serde_value()).filter(is_own_server))
}

/// Returns whether a text is an empty object.
pub(crate) fn is_empty(text: &str) -> bool {
    parse(text).is_ok_and(|(_, object)| object.properties().is_empty())
}

/// Returns whether two texts have the same value.
#[cfg(test)]
fn says_the_same(one: &str, other: &str) -> bool {
    let value = |text: &str| parse(text).ok().and_then(|(_, object)| object.to_serde_value());
    matches!((value(one), value(other)), (Some(one), Some(other)) if one == other)
}

pub(crate) fn parse(text: &str) -> Result<(CstRootNode, CstObject), String> {
    let text = if text.trim().is_empty() { "{\n}\n" } else { text };
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| error.to_string())?;
    let object = root.object_value().ok_or("it is not a JSON object")?;
    Ok((root, object))
}

fn remove_hooks(object: &CstObject, agent: &str) -> Result<(), String> {
    let Some(all) = object.get(HOOKS) else { return Ok(()) };
    let all = all.object_value().ok_or("`hooks` is no object")?;
    for event in all.properties() {
        let Some(groups) = event.array_value() else { continue };
        let mut is_changed = false;
        for group in groups.elements() {
            let Some(value) = group.to_serde_value() else { continue };
            let own: Vec<usize> = own_hooks(&value, agent).collect();
            let Some(hooks) = group.as_object().and_then(|group| group.array_value(HOOKS)) else { continue };
            is_changed |= !own.is_empty();
            if !own.is_empty() && own.len() == hooks.elements().len() {
                group.remove();
                continue;
            }
            own.iter().rev().filter_map(|at| hooks.elements().into_iter().nth(*at)).for_each(CstNode::remove);
        }
        if is_changed && groups.elements().is_empty() {
            event.remove();
        }
    }
    remove_if_empty(object, HOOKS);
    Ok(())
}

pub(crate) fn remove_if_empty(object: &CstObject, name: &str) {
    if let Some(property) = object.get(name)
        && property.object_value().is_some_and(|value| value.properties().is_empty())
    {
        property.remove();
    }
}

/// Returns the indexes of herma's hooks in a group.
fn own_hooks(group: &Value, agent: &str) -> impl Iterator<Item = usize> {
    let hooks = group.get(HOOKS).and_then(Value::as_array).into_iter().flatten().enumerate();
    let is_own =
        move |hook: &Value| hook.get("command").and_then(Value::as_str).is_some_and(|command| is_own(command, agent));
    hooks.filter(move |(_, hook)| is_own(hook)).map(|(at, _)| at)
}

/// Returns whether an MCP server is herma's.
pub(crate) fn is_own_server(server: &Value) -> bool {
    let program = server.get("command").and_then(Value::as_str).and_then(|program| program.rsplit('/').next());
    let first = server.get("args").and_then(|arguments| arguments.get(0)).and_then(Value::as_str);
    program == Some("herma") && first == Some("mcp")
}

pub(crate) fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hook(command: &str) -> Value {
        json!({ "hooks": [{ "type": "command", "command": command }] })
    }

    const TEXTS: [&str; 6] = [
        "",
        "{}\n",
        "{\"a\":1}",
        "{\n  // mine\n  \"model\": \"x\", \"hooks\": {\n    \"Stop\": [ { \"hooks\": [{\"type\":\"command\",\"command\":\"say done\"}] } ]\n  }\n}\n",
        "{\n\t\"hooks\": {},\n\t\"z\": [1, 2,\n 3]\n}",
        "{\n    \"mcpServers\": {\n        \"other\": {\"command\": \"x\"}\n    }\n}\n",
    ];

    #[test]
    fn hooks_come_and_go_and_the_rest_stays() {
        let one = [
            ("Stop", hook("exec herma hook claude-code stop")),
            ("SessionEnd", hook("exec herma hook claude-code session-end")),
        ];
        let other = [("Stop", hook("exec /new/herma hook claude-code stop"))];
        for text in TEXTS {
            let with = with_hooks(text, "claude-code", &one).unwrap();
            assert_eq!(hooks(&with, "claude-code").unwrap().len(), 2, "{with}");
            assert_eq!(with_hooks(&with, "claude-code", &one).unwrap(), with);
            assert_eq!(with_hooks(&with, "codex", &[]).unwrap(), with);
            for line in text.lines().filter(|line| line.contains("mine") || line.contains("say done")) {
                assert!(with.contains(line.trim().trim_end_matches(" ]")), "{with}");
            }
            let moved = with_hooks(&with, "claude-code", &other).unwrap();
            assert_eq!(hooks(&moved, "claude-code").unwrap(), [("Stop".to_owned(), other[0].1.clone())]);
            let without = with_hooks(&moved, "claude-code", &[]).unwrap();
            let expected = if text.contains("\"hooks\": {}") { "{\"z\":[1,2,3]}" } else { text };
            assert!(says_the_same(&without, expected), "{without}");
        }
    }

    #[test]
    fn what_others_put_into_our_group_stays() {
        let ours = "{\"type\":\"command\",\"command\":\"exec /h/herma hook codex stop\"}";
        let theirs = "{\"type\":\"command\",\"command\":\"true\"}";
        let text = format!("{{\"hooks\":{{\"SessionEnd\":[],\"Stop\":[{{\"hooks\":[{theirs},{ours}]}}]}}}}");
        assert_eq!(places(&text, "codex"), ["stop:0:1"]);
        let without = with_hooks(&text, "codex", &[]).unwrap();
        let expected = format!("{{\"hooks\":{{\"SessionEnd\":[],\"Stop\":[{{\"hooks\":[{theirs}]}}]}}}}");
        assert!(says_the_same(&without, &expected), "{without}");
    }

    #[test]
    fn a_server_of_somebody_else_stays_and_what_was_added_to_ours() {
        let server = json!({ "command": "/new/herma", "args": ["mcp"] });
        let other = "{\"mcpServers\":{\"herma\":{\"command\":\"x\"}}}";
        assert!(with_server(other, "herma", Some(&server)).is_err());
        assert_eq!(with_server(other, "herma", None).unwrap(), other);
        let own = "{\"mcpServers\":{\"herma\":{\"command\":\"/old/herma\",\"args\":[\"mcp\"],\"env\":{\"A\":\"b\"}}}}";
        let new = with_server(own, "herma", Some(&server)).unwrap();
        assert!(new.contains("/new/herma") && new.contains("\"A\""), "{new}");
    }

    #[test]
    fn a_server_comes_and_goes() {
        let server = json!({ "command": "herma", "args": ["mcp"] });
        for text in TEXTS {
            let with = with_server(text, "herma", Some(&server)).unwrap();
            assert!(with.contains("\"mcp\""));
            assert_eq!(with_server(&with, "herma", Some(&server)).unwrap(), with);
            let without = with_server(&with, "herma", None).unwrap();
            assert!(says_the_same(&without, text), "{without}");
        }
    }

    #[test]
    fn what_is_of_another_kind_is_said_and_left_alone() {
        let wanted = [("Stop", hook("exec herma hook codex stop"))];
        for text in ["[]", "7", "{", "{\"hooks\": 7}", "{\"hooks\": {\"Stop\": 7}}"] {
            assert!(with_hooks(text, "codex", &wanted).is_err(), "{text}");
        }
        assert!(with_server("{\"mcpServers\": []}", "herma", Some(&json!({}))).is_err());
    }
}
