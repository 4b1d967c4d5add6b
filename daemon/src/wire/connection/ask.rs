//! Requests: answers them at once if that needs no waiting, and starts tasks for others.

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use herma_protocol::binary::ClientFrame;
use herma_protocol::jsonrpc::{self, Item, Line, ReplyTo};
use herma_protocol::{Header, Reply, Request, RpcError};
use tokio::sync::oneshot;

use super::admission::{Admission, busy, is_administrative};
use super::codec::{Parsed, encode_frame, encode_line};
use super::{Connection, Encoded, Incoming};
use crate::wire::dispatch;
use crate::wire::in_flight::Share;
use crate::wire::rpc_error::Answer;

impl Connection {
    /// Starts the requests of a frame, and answers those that could not be read.
    pub(super) fn start(&mut self, parsed: Parsed, share: Option<Share>) {
        let share = share.map(Arc::new);
        match parsed {
            Parsed::Frame(Ok(frame)) => {
                let ClientFrame { id, request } = *frame;
                match request {
                    Ok((header, request)) => {
                        self.ask(header, request, share, move |outcome, out| encode_frame(id, &outcome, out));
                    }
                    Err(error) => self.refuse_frame(id, error),
                }
            }
            Parsed::Frame(Err(error)) => self.refuse_frame(0, error),
            Parsed::Line(line) => match *line {
                Line::One(item) => self.ask_item(item, share),
                Line::Batch(items) => self.ask_batch(items, share),
            },
        }
    }

    fn refuse_frame(&mut self, id: u64, error: RpcError) {
        self.services.connections.metrics.record_unreadable();
        self.answer(|out| encode_frame(id, &Err(error), out));
    }

    fn ask_item(&mut self, item: Item, share: Option<Arc<Share>>) {
        match (item.reply_to, item.request) {
            (ReplyTo::Id(id), Ok((header, request))) => {
                self.ask(header, request, share, move |outcome, out| encode_line(&id, &outcome, out));
            }
            (ReplyTo::Nobody, Ok((header, request))) => self.ask(header, request, share, |_, _| ()),
            (ReplyTo::Id(id), Err(error)) => {
                self.services.connections.metrics.record_unreadable();
                self.answer(|out| encode_line(&id, &Err(error), out));
            }
            (ReplyTo::Nobody, Err(_)) => self.services.connections.metrics.record_unreadable(),
        }
    }

    /// Answers at once, or starts a task that answers later.
    fn ask(
        &mut self,
        header: Header,
        request: Request,
        share: Option<Arc<Share>>,
        encode: impl FnOnce(Answer<Reply>, &mut Vec<u8>) + Send + 'static,
    ) {
        if self.admission == Admission::Reserved && !is_administrative(&request) {
            self.incoming = Incoming::Closed;
            let error = busy(self.services.config.limits.connections);
            return self.answer(|out| encode(Err(error), out));
        }
        if let Request::Subscribe(params) = &request {
            let outcome = self.subscribe(params);
            return self.answer(|out| encode(outcome, out));
        }
        let key = dispatch::order_key(&request);
        let is_busy = self.order.is_busy(key);
        // Answers that are ready come first, because their requests came first.
        while let Ok(answer) = self.answered.try_recv() {
            self.queue(&answer.bytes);
        }
        if !is_busy && let Some(outcome) = dispatch::at_once(&self.services, self.number, &header, &request) {
            return self.answer(|out| encode(outcome, out));
        }
        let is_alone = self.tasks.is_empty() && self.decoder.partial().is_none();
        let place = self.order.queue(key);
        let (services, number, answers) = (Arc::clone(&self.services), self.number, self.answers.clone());
        let mut work = Box::pin(dispatch::in_time(services, number, header, request, place.turn()));
        // If a peer sends one request at a time, those that finish at once need no task.
        if is_alone && let Poll::Ready(outcome) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return self.answer(|out| encode(outcome, out));
        }
        self.tasks.spawn(async move {
            let outcome = work.await;
            let mut bytes = Vec::new();
            encode(outcome, &mut bytes);
            // The receiver is gone if the connection has ended.
            drop(answers.send(Encoded { bytes, _share: share }).await);
            place.leave().await;
        });
    }

    /// Starts all requests of a batch and joins their answers in order.
    fn ask_batch(&mut self, items: Vec<Item>, share: Option<Arc<Share>>) {
        if self.admission == Admission::Reserved {
            return self.turn_away();
        }
        let mut waiting = Vec::new();
        for Item { reply_to, request } in items {
            let (done, answer) = oneshot::channel();
            match (reply_to, request) {
                (ReplyTo::Id(id), Err(error)) => {
                    drop(done.send(jsonrpc::write_reply(&id, &Err(error))));
                    waiting.push(answer);
                }
                (ReplyTo::Nobody, Err(_)) => {}
                (reply_to, Ok((_, Request::Subscribe(params)))) => {
                    let outcome = self.subscribe(&params);
                    if let ReplyTo::Id(id) = reply_to {
                        drop(done.send(jsonrpc::write_reply(&id, &outcome)));
                        waiting.push(answer);
                    }
                }
                (reply_to, Ok((header, request))) => {
                    let key = dispatch::order_key(&request);
                    let place = self.order.queue(key);
                    let (services, number) = (Arc::clone(&self.services), self.number);
                    self.tasks.spawn(async move {
                        let outcome = dispatch::in_time(services, number, header, request, place.turn()).await;
                        if let ReplyTo::Id(id) = reply_to {
                            drop(done.send(jsonrpc::write_reply(&id, &outcome)));
                        }
                        place.leave().await;
                    });
                    waiting.push(answer);
                }
            }
        }
        let answers = self.answers.clone();
        self.tasks.spawn(async move {
            let mut ready = Vec::new();
            for answer in waiting {
                // A notification drops its sender and has no answer.
                ready.extend(answer.await);
            }
            if let Some(mut bytes) = jsonrpc::join_batch(&ready) {
                bytes.push(b'\n');
                drop(answers.send(Encoded { bytes, _share: share }).await);
            }
        });
    }
}
