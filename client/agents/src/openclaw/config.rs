//! herma's entries in OpenClaw's configuration. The order, comments and format of the rest stay as they are. No I/O.

use jsonc_parser::cst::{CstInputValue, CstNode, CstObject};
use serde_json::{Value, json};

use crate::settings::SERVER;
use crate::settings::json::{input, is_own_server, parse, remove_if_empty};

/// The names of the objects.
const PLUGINS: &str = "plugins";
const SLOTS: &str = "slots";
const ENTRIES: &str = "entries";
const MCP: &str = "mcp";
const SERVERS: &str = "servers";

/// The slot of the context engine, and OpenClaw's own one.
const ENGINE: &str = "contextEngine";
const USUAL: &str = "legacy";

/// The list of the plugins that may be loaded. Without it all may be.
const ALLOW: &str = "allow";

/// The name of herma's plugin.
const PLUGIN: &str = "herma";

/// Adds herma to the configuration, with this MCP server, or removes it with `None`.
///
/// # Errors
/// The text is not a JSON object, an entry has the wrong type, or another engine or server has herma's place.
pub(super) fn changed(text: &str, server: Option<&Value>) -> Result<String, String> {
    let (root, object) = parse(text)?;
    match server {
        Some(server) => add(&object, server)?,
        None => remove(&object),
    }
    Ok(root.to_string())
}

/// Adds what the first configuration has of herma to the second one.
pub(super) fn reinstall(installed: &str, text: &str) -> Result<String, String> {
    let (_, object) = parse(installed)?;
    let servers = object.object_value(MCP).and_then(|mcp| mcp.object_value(SERVERS));
    let server = servers.and_then(|servers| value(&servers, SERVER)).filter(is_own_server);
    changed(text, server.as_ref())
}

/// Returns the program that the configuration starts.
pub(super) fn program(text: &str) -> Option<String> {
    let (_, object) = parse(text).ok()?;
    let server = value(&object.object_value(MCP)?.object_value(SERVERS)?, SERVER).filter(is_own_server)?;
    Some(server.get("command")?.as_str()?.to_owned())
}

fn add(object: &CstObject, server: &Value) -> Result<(), String> {
    let plugins = below(object, PLUGINS, PLUGINS)?;
    let slots = below(&plugins, SLOTS, "plugins.slots")?;
    match value(&slots, ENGINE) {
        Some(other) if other != PLUGIN && other != USUAL => {
            return Err(format!(
                "`plugins.slots.contextEngine` is {other}; set it to \"{USUAL}\" to use herma instead"
            ));
        }
        _ => set(&slots, ENGINE, &json!(PLUGIN)),
    }
    let entries = below(&plugins, ENTRIES, "plugins.entries")?;
    set(&below(&entries, PLUGIN, "plugins.entries.herma")?, "enabled", &json!(true));
    if let Some(allowed) = plugins.array_value(ALLOW) {
        let is_there = allowed.elements().iter().any(is_herma);
        if !is_there {
            allowed.append(CstInputValue::String(PLUGIN.to_owned()));
        }
    }
    let servers = below(&below(object, MCP, MCP)?, SERVERS, "mcp.servers")?;
    match value(&servers, SERVER) {
        Some(other) if !is_own_server(&other) => {
            Err(format!("the MCP server `{SERVER}` is another program than herma; give it another name"))
        }
        Some(known) => {
            // Fields that a user added, such as `env`, stay.
            let fields = below(&servers, SERVER, SERVER)?;
            let wanted = server.as_object().into_iter().flatten();
            wanted
                .filter(|(name, value)| known.get(name) != Some(value))
                .for_each(|(name, value)| set(&fields, name, value));
            Ok(())
        }
        None => {
            servers.append(SERVER, input(server));
            Ok(())
        }
    }
}

fn remove(object: &CstObject) {
    if let Some(plugins) = object.object_value(PLUGINS) {
        if let Some(slots) = plugins.object_value(SLOTS)
            && let Some(engine) = slots.get(ENGINE).filter(|_| value(&slots, ENGINE) == Some(json!(PLUGIN)))
        {
            engine.remove();
            remove_if_empty(&plugins, SLOTS);
        }
        if let Some(entries) = plugins.object_value(ENTRIES)
            && let Some(entry) = entries.get(PLUGIN)
        {
            entry.remove();
            remove_if_empty(&plugins, ENTRIES);
        }
        let allowed = plugins.array_value(ALLOW).into_iter().flat_map(|allowed| allowed.elements());
        allowed.filter(is_herma).for_each(CstNode::remove);
        remove_if_empty(object, PLUGINS);
    }
    if let Some(mcp) = object.object_value(MCP)
        && let Some(servers) = mcp.object_value(SERVERS)
        && let Some(server) =
            servers.get(SERVER).filter(|_| value(&servers, SERVER).is_some_and(|one| is_own_server(&one)))
    {
        server.remove();
        remove_if_empty(&mcp, SERVERS);
        remove_if_empty(object, MCP);
    }
}

fn is_herma(node: &CstNode) -> bool {
    node.to_serde_value() == Some(json!(PLUGIN))
}

fn value(object: &CstObject, name: &str) -> Option<Value> {
    object.get(name)?.value()?.to_serde_value()
}

fn set(object: &CstObject, name: &str, wanted: &Value) {
    match object.get(name) {
        Some(_) if value(object, name).as_ref() == Some(wanted) => {}
        Some(property) => property.set_value(input(wanted)),
        None => drop(object.append(name, input(wanted))),
    }
}

/// Returns the object of a name, which is created if it is not there. `path` is its whole name.
fn below(object: &CstObject, name: &str, path: &str) -> Result<CstObject, String> {
    object.object_value_or_create(name).ok_or_else(|| format!("`{path}` is no object"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(program: &str) -> Value {
        json!({ "command": program, "args": ["mcp"] })
    }

    #[test]
    fn entries_are_added_once_and_removed_again() {
        for text in [
            "{\n}\n",
            "{\n  // mine\n  \"models\": { \"mode\": \"replace\" }\n}\n",
            "{\n  \"plugins\": {\n    \"allow\": [\"other\"],\n    \"entries\": { \"other\": { \"enabled\": false } }\n  },\n  \"mcp\": { \"servers\": { \"x\": { \"command\": \"x\" } } }\n}\n",
        ] {
            let with = changed(text, Some(&server("/bin/herma"))).unwrap();
            let value: Value = parse(&with).unwrap().1.to_serde_value().unwrap();
            assert_eq!(value["plugins"]["slots"]["contextEngine"], "herma", "{with}");
            assert_eq!(value["plugins"]["entries"]["herma"], json!({ "enabled": true }));
            assert_eq!(value["mcp"]["servers"]["herma"], server("/bin/herma"));
            let allow = value["plugins"].get("allow").cloned();
            assert!(allow.is_none_or(|allow| allow == json!(["other", "herma"])), "{with}");
            assert_eq!(changed(&with, Some(&server("/bin/herma"))).as_deref(), Ok(with.as_str()));
            assert_eq!(program(&with).as_deref(), Some("/bin/herma"));
            assert_eq!(reinstall(&with, text).as_deref(), Ok(with.as_str()));
            let newer = changed(&with, Some(&server("/new/herma"))).unwrap();
            assert!(newer.contains("/new/herma") && !newer.contains("/bin/herma"), "{newer}");
            let without = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(without(&changed(&with, None).unwrap()), without(text));
        }
    }

    #[test]
    fn another_engine_or_server_is_no_place_for_herma() {
        for (text, words) in [
            (r#"{"plugins": {"slots": {"contextEngine": "other"}}}"#, "contextEngine` is \"other\""),
            (r#"{"plugins": []}"#, "`plugins` is no object"),
            (r#"{"mcp": {"servers": {"herma": {"command": "cat"}}}}"#, "another program"),
            ("[]", "not a JSON object"),
        ] {
            let refused = changed(text, Some(&server("/bin/herma"))).unwrap_err();
            assert!(refused.contains(words), "{refused}");
            assert_eq!(changed(text, None).unwrap_or_else(|_| text.to_owned()), text);
        }
        let usual = r#"{"plugins": {"slots": {"contextEngine": "legacy"}}}"#;
        assert!(changed(usual, Some(&server("/bin/herma"))).unwrap().contains("\"contextEngine\": \"herma\""));
    }
}
