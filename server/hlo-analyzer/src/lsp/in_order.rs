//! Makes handlers post in the order in which messages arrive.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tower_lsp::jsonrpc::{Request, Response};
use tower_service::Service;

/// Calls a service and polls the future of each call once before the next message is looked at.
///
/// The router starts a handler's code only at the first poll of its future, and an executor may poll futures in
/// any order it likes. Here the first poll happens inside `call`, which runs once per message in arrival order,
/// so a handler whose first statement posts to the mailbox has posted when `call` returns.
pub(super) struct InOrder<S>(pub(super) S);

pub(super) enum Answer<E> {
    /// The response was ready at the first poll. It is sent at once: `exit` may be the next message.
    Now(Result<Option<Response>, E>),
    Later(Pin<Box<dyn Future<Output = Result<Option<Response>, E>> + Send>>),
}

impl<S> InOrder<S>
where
    S: Service<Request, Response = Option<Response>>,
    S::Future: Send + 'static,
{
    pub(super) fn call(&mut self, request: Request) -> Answer<S::Error> {
        let mut answer = Box::pin(self.0.call(request));
        // This poll registers no waker. The executor polls again with its own waker when it gets the future.
        match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => Answer::Now(done),
            Poll::Pending => Answer::Later(answer),
        }
    }
}
