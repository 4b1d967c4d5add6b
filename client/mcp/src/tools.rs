//! The tools: the method that each one calls, and the result for the model.

mod schema;

use herma_base::host::ToolSize;
use herma_client::ClientError;
use herma_client::protocol::memory::{ListParams, SchemaParams, Target, ToolParams};
use herma_client::protocol::{ErrorKind, Header, Json, Method, Request, RpcError, recall};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, ToolAnnotations};
use serde_json::{Value, json};

use super::connection::Connection;
use super::identity::{Identity, unique};

/// The tool name for `admit_output` if the call names none. Its size limit is then that of other servers' tools.
const TOOL: &str = "mcp_tool";

/// The arguments of `admit_output`.
const ADMIT: [&str; 3] = ["content", "tool", "id"];

/// The argument of `memory_read`.
const STORE: &str = "target";

/// A tool of this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    /// Changes the stores.
    Memory,
    /// Returns the entries of the stores, for clients that support tools only.
    MemoryRead,
    /// Calls a read-only method with the arguments as its params.
    Read(Method),
    /// Stores a long text on the disk.
    AdmitOutput,
}

/// The tokens of one page of an expanded handle, if the model names no number.
const PAGE: u64 = 2_000;

/// Every tool with its name.
const TOOLS: [(&str, Tool); 10] = [
    ("memory", Tool::Memory),
    ("recall_search", Tool::Read(Method::RecallSearch)),
    ("recall_expand", Tool::Read(Method::RecallExpand)),
    ("recall_describe", Tool::Read(Method::RecallDescribe)),
    ("recall_state", Tool::Read(Method::RecallState)),
    ("recall_ask", Tool::Read(Method::RecallAsk)),
    ("memory_read", Tool::MemoryRead),
    ("output_read", Tool::Read(Method::OutputRead)),
    ("output_search", Tool::Read(Method::OutputSearch)),
    ("admit_output", Tool::AdmitOutput),
];

impl Tool {
    /// Returns the tool with a name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        TOOLS.iter().find(|(known, _)| *known == name).map(|(_, tool)| *tool)
    }
}

/// Returns the error text for a tool that doesn't exist.
pub(super) fn unknown(name: &str) -> String {
    let shown: String = name.chars().take(80).collect();
    format!("there is no tool {shown:?}; there are {}", TOOLS.map(|(name, _)| name).join(", "))
}

/// Returns the tools as MCP clients see them. The daemon provides the schemas for memory and recall.
///
/// # Errors
/// The daemon's error, or no daemon.
pub(super) fn list(connection: &mut Connection) -> Result<Vec<rmcp::model::Tool>, ClientError> {
    let memory = connection.call(SchemaParams {})?.tool;
    let recall = connection.call(recall::SchemaParams {})?.tools;
    let schemas: Result<Vec<Value>, _> =
        std::iter::once(&memory).chain(&recall).map(|schema| serde_json::from_str(schema.get())).collect();
    let schemas = schemas.map_err(|error| ClientError::Answer(error.to_string()))?;
    Ok(schemas.into_iter().chain(schema::own()).filter_map(described).collect())
}

/// Returns the sizes of tools in chars.
pub(super) fn sizes(tools: &[rmcp::model::Tool]) -> Vec<ToolSize> {
    let whole = |tool: &rmcp::model::Tool| serde_json::to_string(tool).unwrap_or_default().chars().count();
    tools.iter().map(|tool| ToolSize { name: tool.name.chars().count(), whole: whole(tool) }).collect()
}

/// Converts a function schema to a tool. Returns `None` if this server can't call it.
fn described(mut schema: Value) -> Option<rmcp::model::Tool> {
    let name = schema["name"].as_str()?.to_owned();
    let tool = Tool::from_name(&name)?;
    let description = offered(schema["description"].as_str()?);
    if matches!(tool, Tool::Read(method) if is_of_session(method)) {
        needs_no_session(&mut schema["parameters"]);
    }
    let Value::Object(parameters) = schema["parameters"].take() else { return None };
    Some(rmcp::model::Tool::new(name, description, parameters).with_annotations(annotations(tool)))
}

/// Marks the session as optional in a schema.
fn needs_no_session(parameters: &mut Value) {
    if let Some(required) = parameters["required"].as_array_mut() {
        required.retain(|name| name != "session");
    }
    if let Some(Value::String(description)) = parameters.pointer_mut("/properties/session/description") {
        description.push_str(" This session when left out.");
    }
}

/// Returns a text of the daemon with this server's tool names: session_search of other agents is recall_search here.
pub(super) fn offered(text: &str) -> String {
    text.replace("session_search", "recall_search")
}

fn annotations(tool: Tool) -> ToolAnnotations {
    let all = ToolAnnotations::new().open_world(false);
    match tool {
        Tool::Memory => all.read_only(false).destructive(true).idempotent(false),
        Tool::MemoryRead | Tool::Read(_) => all.read_only(true),
        Tool::AdmitOutput => all.read_only(false).destructive(false),
    }
}

/// Calls a tool. An error also becomes a result, which the model reads.
pub(super) fn call(
    connection: &mut Connection,
    identity: &Identity,
    tool: Tool,
    arguments: JsonObject,
) -> CallToolResult {
    let reply = request(identity, tool, arguments).and_then(|request| connection.request(request));
    // The text is the same as on the daemon's socket. The daemon recognizes a result that was read back by this form
    // and doesn't spill it again.
    let text =
        reply.and_then(|reply| serde_json::to_string(&reply).map_err(|error| ClientError::Answer(error.to_string())));
    match text {
        Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
        Err(error) => CallToolResult::error(vec![ContentBlock::text(describe(&error))]),
    }
}

fn request(identity: &Identity, tool: Tool, mut arguments: JsonObject) -> Result<Request, ClientError> {
    let Identity { session, agent } = identity.clone();
    match tool {
        Tool::Memory => {
            let arguments = Json::from_value(&arguments).map_err(|error| wrong(error.to_string()))?;
            Ok(Request::MemoryTool(ToolParams { arguments, session: Some(session), agent: Some(agent) }))
        }
        Tool::MemoryRead => store(&arguments).map(|target| Request::MemoryList(ListParams { target, raw: None })),
        Tool::Read(method) => {
            if is_of_session(method) && !arguments.contains_key("session") && !arguments.contains_key("node") {
                arguments.insert("session".into(), session.into());
            }
            if method == Method::RecallExpand {
                arguments.entry("tokens").or_insert_with(|| PAGE.into());
                arguments.entry("messages").or_insert_with(|| false.into());
            }
            params(method, &arguments)
        }
        Tool::AdmitOutput => {
            if let Some(name) = arguments.keys().find(|name| !ADMIT.contains(&name.as_str())) {
                return Err(wrong(format!("unknown argument {name:?}; there are {}", ADMIT.join(", "))));
            }
            arguments.insert("session".into(), session.into());
            arguments.entry("tool").or_insert_with(|| TOOL.into());
            arguments.entry("id").or_insert_with(|| format!("mcp_{}", unique()).into());
            params(Method::OutputAdmit, &arguments)
        }
    }
}

/// Returns the store that `memory_read` should return; `None` means both.
fn store(arguments: &JsonObject) -> Result<Option<Target>, ClientError> {
    if let Some(name) = arguments.keys().find(|name| *name != STORE) {
        return Err(wrong(format!("unknown argument {name:?}; there is {STORE}")));
    }
    match arguments.get(STORE).map(|target| target.as_str()) {
        None => Ok(None),
        Some(Some("memory")) => Ok(Some(Target::Memory)),
        Some(Some("user")) => Ok(Some(Target::User)),
        Some(_) => Err(wrong(format!("{STORE} is \"memory\" or \"user\""))),
    }
}

/// Returns whether a method reads one session, by default this one.
const fn is_of_session(method: Method) -> bool {
    matches!(method, Method::RecallDescribe | Method::RecallState | Method::RecallAsk)
}

/// Converts arguments to the params of a method. The model must not set the header fields that every method has.
fn params(method: Method, arguments: &JsonObject) -> Result<Request, ClientError> {
    if let Some(name) = Header::NAMES.iter().find(|name| arguments.contains_key(**name)) {
        return Err(wrong(format!("unknown argument {name:?}")));
    }
    let params = serde_json::value::to_raw_value(arguments).map_err(|error| wrong(error.to_string()))?;
    let read = Request::from_json(method, Some(&params)).map_err(|error| wrong(error.to_string()));
    read.map(|(_, request)| request)
}

fn wrong(words: String) -> ClientError {
    RpcError::new(ErrorKind::InvalidParams, words).into()
}

/// Returns an error as JSON for a model: the message, the kind, and whether to retry.
fn describe(error: &ClientError) -> String {
    let ClientError::Rpc(error) = error else { return json!({ "error": error.to_string() }).to_string() };
    let mut described = json!({ "error": error.message, "kind": error.kind.name(), "retry": error.kind.retry() });
    if let Some(details) = &error.details {
        described["data"] = serde_json::from_str(details.get()).unwrap_or_default();
    }
    described.to_string()
}
