//! `recall.*`: finds and returns content that left a context.

mod schema;

use herma_archive::node::{NodeRow, Stands};
use herma_archive::search::Kinds;
use herma_protocol::Json;
use herma_protocol::recall::{
    AskParams, AskResult, Attribute, Compression, DescribeParams, DescribeResult, Entity, Evidence, ExpandParams,
    ExpandResult, Hit, Item, ItemPart, Kind, Neighbour, Node, Scope, SearchParams, SearchResult, StateParams,
    StateResult,
};

pub(super) use schema::schema;

use crate::data::error::{Error, Outcome};
use crate::data::names;
use crate::data::numbers::{to_u64, to_usize};
use crate::owners::archive::RecallQuery;
use crate::service::caller::Caller;
use crate::service::recall::{
    AskAnswer, NearbyMessage, Place, PlaceKind, Places, Question, SessionDescription, SessionTopics, StateQuery, Wanted,
};
use crate::wire::services::Services;

/// The number of chars of a query that are used. The rest is ignored.
const QUERY: usize = 1000;

/// The default number of hits.
const DEFAULT_HITS: u64 = 20;

/// The largest number of hits in one output. Otherwise a long output would leave no room for others.
const OF_ONE_OUTPUT: usize = 3;

/// The largest number of hits in one call.
const HITS: u64 = 100;

/// The default number of messages on each side of a hit. With one, the evidence is among the first ten hits for 11 of 100
/// questions more than with none (docs/design/recall.md). The second adds less, and its text is paid for, too.
const DEFAULT_AROUND: u64 = 1;

/// The largest number of messages on each side of a hit.
const AROUND: u64 = 5;

/// The default number of entities.
const DEFAULT_ENTITIES: u64 = 50;

/// The largest number of entities in one call.
const ENTITIES: u64 = 500;

/// The default number of tokens of the passages for a question.
const DEFAULT_PASSAGES: u64 = 8_000;

/// The allowed number of tokens of passages in one call.
const PASSAGES: std::ops::RangeInclusive<u64> = 500..=60_000;

pub(super) async fn search(services: &Services, caller: &Caller, params: SearchParams) -> Outcome<SearchResult> {
    names::check_all(&[("session", params.session.as_ref())])?;
    let limit = params.limit.unwrap_or(DEFAULT_HITS);
    if !(1..=HITS).contains(&limit) {
        return Err(Error::param("limit", format!("must be from 1 to {HITS}")));
    }
    let around = params.around.unwrap_or(DEFAULT_AROUND);
    if around > AROUND {
        return Err(Error::param("around", format!("must be from 0 to {AROUND}")));
    }
    if params.since.is_some_and(f64::is_nan) || params.until.is_some_and(f64::is_nan) {
        return Err(Error::param("since", "must be a time in Unix seconds"));
    }
    let query = RecallQuery {
        words: cut(params.query),
        session: params.session,
        profile: caller.profile.clone(),
        agent: params.agent,
        folder: params.folder.map(|folder| folder.trim_end_matches('/').to_owned()),
        kinds: kinds(params.kinds.as_deref()),
        since: params.since,
        until: params.until,
        period: None,
        limit: to_usize(limit),
        of_one_output: OF_ONE_OUTPUT,
        around: to_usize(around),
        least_fit: 0.0,
        vector: None,
        remote: None,
    };
    let is_everywhere = params.scope == Some(Scope::Everywhere);
    let Places { places, more, notice } = match &params.prompt_of {
        Some(session) => services.recall.search_for_prompt(caller, session, query, is_everywhere).await?,
        None => services.recall.search(query, is_everywhere).await?,
    };
    Ok(SearchResult { hits: places.into_iter().map(hit).collect(), more, notice, recalled: true })
}

fn kinds(wanted: Option<&[Kind]>) -> Kinds {
    let has = |kind| wanted.is_none_or(|wanted| wanted.contains(&kind));
    Kinds { messages: has(Kind::Message), outputs: has(Kind::Output), memory: has(Kind::Memory) }
}

fn hit(place: Place) -> Hit {
    let Place { handle, kind, hit, snippet, node, host, before, after } = place;
    Hit {
        handle,
        kind: match kind {
            PlaceKind::Message => Kind::Message,
            PlaceKind::Output => Kind::Output,
            PlaceKind::Memory => Kind::Memory,
        },
        session: hit.session,
        agent: hit.agent,
        source: hit.origin,
        cwd: hit.folder,
        role: hit.role,
        time: hit.time,
        snippet: snippet.text,
        start: to_u64(snippet.start),
        end: to_u64(snippet.end),
        score: hit.score,
        node,
        host,
        before: before.into_iter().map(neighbour).collect(),
        after: after.into_iter().map(neighbour).collect(),
    }
}

fn neighbour(message: NearbyMessage) -> Neighbour {
    Neighbour { handle: message.handle, role: message.role, snippet: message.text }
}

pub(super) async fn expand(services: &Services, caller: &Caller, params: ExpandParams) -> Outcome<ExpandResult> {
    let wanted = Wanted {
        before: params.before,
        after: params.after,
        tokens: params.tokens,
        about: params.about.map(|words| words.chars().take(QUERY).collect()),
        is_text: params.messages == Some(false),
    };
    let handle = match (params.handle, params.node) {
        (handle, None) => handle,
        (handle, Some(node)) if handle.is_empty() => node,
        _ => return Err(Error::param("node", "takes the place of handle; one of them is enough")),
    };
    let found = services.recall.expand(caller, &handle, wanted).await?;
    let items = found.items.into_iter().map(|item| Item {
        handle: item.handle,
        role: item.role,
        text: item.text,
        part: item.part.map(|part| ItemPart { start: part.range.start, end: part.range.end, chars: part.of }),
        message: item.message.and_then(|message| Json::parse(message).ok()),
    });
    Ok(ExpandResult { items: items.collect(), next: found.next, recalled: true })
}

pub(super) async fn describe(services: &Services, caller: &Caller, params: DescribeParams) -> Outcome<DescribeResult> {
    let SessionDescription { compressions, map, open } = services.recall.describe(caller, &params.session).await?;
    let compressions = compressions.into_iter().map(|one| Compression {
        generation: one.generation,
        time: one.time,
        handle: one.handle,
        messages: one.messages,
        chars: one.chars,
        summary: one.summary,
        back_to: one.back_to,
        undone: one.undone,
    });
    Ok(DescribeResult { compressions: compressions.collect(), map: map.into_iter().map(node).collect(), open })
}

fn node(row: NodeRow) -> Node {
    Node {
        children: match row.of {
            Stands::Nodes(children) => children,
            Stands::Messages(_) | Stands::Handle(_) => Vec::new(),
        },
        id: row.id,
        depth: row.depth,
        first: row.first,
        next: row.next,
        since: row.since,
        until: row.until,
        tokens: row.tokens,
        writer: row.writer,
        text: row.text,
        references: row.references,
        state: row.state,
        warnings: row.warnings,
    }
}

pub(super) async fn state(services: &Services, caller: &Caller, params: StateParams) -> Outcome<StateResult> {
    let limit = params.limit.unwrap_or(DEFAULT_ENTITIES);
    if !(1..=ENTITIES).contains(&limit) {
        return Err(Error::param("limit", format!("must be from 1 to {ENTITIES}")));
    }
    if params.entity.as_ref().is_some_and(|entity| entity.chars().count() > QUERY) {
        return Err(Error::param("entity", format!("at most {QUERY} chars are allowed")));
    }
    let query = StateQuery { session: params.session, entity: params.entity, limit: to_usize(limit) };
    let stated = services.recall.state(caller, query).await?;
    let entities = stated.entities.iter().map(|entity| self::entity(&stated, entity)).collect();
    Ok(StateResult { entities, more: stated.more, recalled: true })
}

fn entity(stated: &SessionTopics, entity: &herma_context::work::Entity) -> Entity {
    let attributes = entity.attributes.iter().map(|attribute| Attribute {
        name: attribute.name.clone(),
        value: attribute.value.clone(),
        was: attribute.was.clone(),
        handle: stated.handle(attribute.at),
    });
    Entity {
        kind: entity.kind.clone(),
        id: entity.id.clone(),
        attributes: attributes.collect(),
        given: u64::from(entity.given),
        said: u64::from(entity.said),
        handle: stated.handle(entity.last),
    }
}

pub(super) async fn ask(services: &Services, caller: &Caller, params: AskParams) -> Outcome<AskResult> {
    names::check_all(&[("session", params.session.as_ref())])?;
    if params.question.trim().is_empty() {
        return Err(Error::param("question", "must say something"));
    }
    let tokens = params.tokens.unwrap_or(DEFAULT_PASSAGES);
    if !PASSAGES.contains(&tokens) {
        let (least, most) = (PASSAGES.start(), PASSAGES.end());
        return Err(Error::param("tokens", format!("must be from {least} to {most}")));
    }
    let AskParams { question: words, session, node, summarizer, .. } = params;
    let question = Question { words: cut(words), session, node, tokens, summarizer };
    let AskAnswer { answer, evidence, by, unverified, notice } = services.recall.ask(caller, question).await?;
    let evidence = evidence.into_iter().map(|found| Evidence {
        quote: found.quote,
        handle: found.handle,
        role: found.role,
        time: found.time,
    });
    let by = by.name().to_owned();
    Ok(AskResult { answer, evidence: evidence.collect(), by, unverified, notice, recalled: true })
}

/// Returns the part of a query that is used.
fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(QUERY) {
        text.truncate(end);
    }
    text
}
