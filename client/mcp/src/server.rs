//! The handlers of the protocol's requests.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use herma_base::Settings;
use herma_base::host::Hosts;
use herma_client::ClientError;
use herma_client::protocol::{ErrorKind, RpcError};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, DiscoverResult, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use super::changes::Changes;
use super::connection::Connection;
use super::identity::Identity;
use super::lines::End;
use super::link::Link;
use super::prompts::{self, MemoryAccess};
use super::{resources, tools};

/// The known request methods. A request of these that rmcp can't parse is handled as an unknown request.
const KNOWN: [&str; 6] = [
    "tools/call",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/get",
    "subscriptions/listen",
];

/// How long the instructions wait for the daemon.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How long the instructions wait for the first hook of an agent whose hooks are installed, in the steps of [`LOOK`].
/// Agents run it and start the server at the same time.
const FIRST_HOOK: Duration = Duration::from_secs(1);

/// How long to wait before looking for the first hook again.
const LOOK: Duration = Duration::from_millis(10);

/// The member of a Codex call's metadata with the id of the thread. One process may have several threads (seen in
/// 0.171).
const THREAD: &str = "threadId";

/// The server.
#[derive(Debug)]
pub(super) struct Server {
    /// The session that the command line names.
    session: Option<String>,
    identity: OnceLock<Identity>,
    hosts: Arc<dyn Hosts>,
    link: Link,
    changes: Changes,
    ended: watch::Receiver<End>,
}

impl Server {
    /// Creates a server before its first request.
    pub(super) fn new(
        settings: Settings,
        session: Option<String>,
        hosts: Arc<dyn Hosts>,
        link: Link,
        ended: watch::Receiver<End>,
    ) -> Self {
        Self { session, identity: OnceLock::new(), hosts, link, changes: Changes::new(settings), ended }
    }

    /// Returns the client's identity. The first call opens the session.
    fn own_identity(&self, client: &str) -> Identity {
        let opened = self.identity.get_or_init(|| {
            let identity = Identity::new(self.session.clone(), client);
            let introduced = identity.clone();
            self.link.begin(move |connection| connection.introduce(introduced));
            identity
        });
        opened.clone()
    }

    /// Returns whether hooks may open the client's sessions; not if the command line names a session.
    fn has_hooks(&self, client: &str) -> bool {
        self.session.is_none() && self.hosts.has_hooks(client)
    }

    /// Handles the client's name. If the client has hooks, its session is opened only when it is needed, because the
    /// hooks may not have run yet.
    fn met(&self, client: &str) {
        if !self.has_hooks(client) {
            self.own_identity(client);
        }
    }

    /// Returns the instructions for a client. They are general if the daemon takes longer than [`TIMEOUT`].
    async fn instructions(&self, client: &str) -> String {
        if self.has_hooks(client) && self.is_hooked(client).await {
            return prompts::instructions(&MemoryAccess::InContext);
        }
        let memory = match tokio::time::timeout(TIMEOUT, self.link.ask(prompts::memory_access)).await {
            Ok(Ok(Ok(memory))) => memory,
            _ => MemoryAccess::ByTool,
        };
        prompts::instructions(&memory)
    }

    /// Returns whether the client's hooks give the memory, so that the instructions must not repeat it.
    async fn is_hooked(&self, client: &str) -> bool {
        if self.hosts.is_hooked(client) {
            return true;
        }
        if !self.hosts.will_be_hooked(client) {
            return false;
        }
        let until = Instant::now() + FIRST_HOOK;
        while Instant::now() < until {
            tokio::time::sleep(LOOK).await;
            if self.hosts.is_hooked(client) {
                return true;
            }
        }
        false
    }

    /// Returns the client's identity in the session of a request. The session is that of the thread that the call
    /// names, or the last one that the client's hooks reported for its process. The latter changes with the process.
    fn identified(&self, context: &RequestContext<RoleServer>) -> Identity {
        let client = named(context);
        let said = context.meta.get(THREAD).and_then(|thread| thread.as_str());
        let of_hooks = self.has_hooks(&client).then(|| self.hosts.session(&client, said)).flatten();
        of_hooks.map_or_else(|| self.own_identity(&client), |session| Identity::new(Some(session), &client))
    }

    /// Runs a call for a request of the protocol.
    async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, ClientError> + Send + 'static,
    ) -> Result<T, ErrorData> {
        self.link.ask(work).await.map_err(|gone| internal(&gone))?.map_err(|error| refused(&error))
    }
}

/// Returns the client's name.
fn named(context: &RequestContext<RoleServer>) -> String {
    context.client_info().map(|client| client.name).unwrap_or_default()
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        let own = Implementation::new("herma", env!("CARGO_PKG_VERSION"))
            .with_title("herma")
            .with_description("Memory that agents share, tool outputs that are read back, and recall.");
        ServerConfig::new(capabilities).with_server_info(own)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.met(&request.client_info.name);
        context.peer.set_peer_info(request.clone());
        let instructions = self.instructions(&request.client_info.name).await;
        Ok(self.negotiate_initialize(&request)?.with_instructions(instructions))
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let client = named(&context);
        self.met(&client);
        let info = self.get_info().with_instructions(self.instructions(&client).await);
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), info))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let client = named(&context);
        self.met(&client);
        let tools = self.ask(tools::list).await?;
        if self.has_hooks(&client) {
            let instructions = self.instructions(&client).await;
            self.hosts.note_definitions(&client, &instructions, &tools::sizes(&tools));
        }
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let identity = self.identified(&context);
        let arguments = request.arguments.unwrap_or_default();
        let Some(tool) = tools::Tool::from_name(&request.name) else {
            return Err(ErrorData::invalid_params(tools::unknown(&request.name), None));
        };
        let called = self.link.ask(move |connection| tools::call(connection, &identity, tool, arguments)).await;
        called.map(Into::into).map_err(|gone| internal(&gone))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.met(&named(&context));
        Ok(ListResourcesResult::with_all_items(resources::list()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let identity = self.identified(&context);
        let resource = resources::find(&request.uri)?;
        let read = self.ask(move |connection| resources::read(connection, &identity, resource)).await?;
        Ok(read.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.met(&named(&context));
        let resource = resources::find(&request.uri)?;
        self.changes.follow(resource, context.peer);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.changes.leave(resources::find(&request.uri)?);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let uris = requested.resource_subscriptions.iter().flatten();
        let known = uris.filter(|uri| resources::find(uri).is_ok());
        self.changes.accept();
        Some(SubscriptionFilter::builder().resource_subscriptions(known.cloned()).build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut updates = self.changes.begin();
        let mut ended = self.ended.clone();
        loop {
            tokio::select! {
                resource = updates.recv() => match resource {
                    Ok(resource) if accepts(context.accepted(), resource.uri()) => {
                        let sent = context.sink().notify_resource_updated(resource.uri()).await;
                        sent.map_err(|error| internal(&error))?;
                    }
                    // If changes were missed, the next change is sent instead.
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return Ok(()),
                },
                () = context.cancelled() => return Ok(()),
                () = over(&mut ended) => return Ok(()),
            }
        }
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.met(&named(&context));
        Ok(ListPromptsResult::with_all_items(vec![prompts::memory()]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let identity = self.identified(&context);
        prompts::check(&request.name)?;
        Ok(self.ask(move |connection| prompts::get(connection, &identity)).await?.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if KNOWN.contains(&request.method.as_str()) {
            let words = format!("the params of {} are missing or of the wrong type", request.method);
            return Err(ErrorData::invalid_params(words, None));
        }
        let shown: String = request.method.chars().take(80).collect();
        Err(ErrorData::new(rmcp::model::ErrorCode::METHOD_NOT_FOUND, shown, None))
    }
}

/// Waits for the end of the input.
async fn over(ended: &mut watch::Receiver<End>) {
    // The sender is dropped at the end of the input, so an error means the same.
    drop(ended.wait_for(|end| *end == End::Reached).await);
}

fn accepts(filter: &SubscriptionFilter, uri: &str) -> bool {
    filter.resource_subscriptions.iter().flatten().any(|accepted| accepted == uri)
}

fn internal(error: &impl ToString) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

/// Converts an error of the client to one of the protocol. A failed tool call returns a result instead, which the model
/// reads.
fn refused(error: &ClientError) -> ErrorData {
    match error {
        ClientError::Rpc(RpcError { kind: ErrorKind::InvalidParams, message, .. }) => {
            ErrorData::invalid_params(message.clone(), None)
        }
        ClientError::Rpc(error) => {
            let data = json!({ "kind": error.kind.name(), "retry": error.kind.retry() });
            ErrorData::internal_error(error.message.clone(), Some(data))
        }
        error => internal(error),
    }
}
