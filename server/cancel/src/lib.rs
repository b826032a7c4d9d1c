//! Cooperative cancellation of computations that do not know who started them.
//!
//! The caller of a computation [enters](Token::enter) a token on its thread. Long loops call [`check`] or
//! [`tick`]. Once the token is cancelled, the next of these calls unwinds to the caller, with [`Cancelled`]
//! as the payload. Without a token both do nothing, so the same code serves tests and the command line.
//!
//! Other threads need the token too: pass them [`current`] and enter it on each.
//!
//! Architecture Invariant: at most a few milliseconds of work lie between two checks. The tests of `ide`
//! measure it.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The payload with which a cancellation unwinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// A flag that stops the computations under it. Clones share the flag; a [child](Token::child) is also
/// cancelled with its parent.
#[derive(Clone, Default)]
pub struct Token {
    is_cancelled: Arc<AtomicBool>,
    parent: Option<Arc<Token>>,
    observer: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl Token {
    pub fn child(&self) -> Token {
        let parent = Some(Arc::new(self.clone()));
        Token { parent, observer: self.observer.clone(), ..Token::default() }
    }

    /// Returns a token that replaces this one: same parent and observer, but a new flag, not cancelled.
    pub fn renewed(&self) -> Token {
        Token { is_cancelled: Arc::default(), ..self.clone() }
    }

    /// Returns a token with the same flag that is not cancelled with the parent.
    pub fn without_parent(&self) -> Token {
        Token { parent: None, ..self.clone() }
    }

    /// Returns a token that calls `observer` at each check, for tests of the distance between checks.
    pub fn observed(observer: impl Fn() + Send + Sync + 'static) -> Token {
        Token { observer: Some(Arc::new(observer)), ..Token::default() }
    }

    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Release);
    }

    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled_itself() || self.parent.as_ref().is_some_and(|parent| parent.is_cancelled())
    }

    /// Whether this token itself, rather than its parent, was cancelled.
    pub fn is_cancelled_itself(&self) -> bool {
        self.is_cancelled.load(Ordering::Acquire)
    }

    /// Runs `work` under this token. A cancellation unwinds out of this call; see [`Token::catch`].
    pub fn enter<T>(&self, work: impl FnOnce() -> T) -> T {
        self.enter_with(None, work)
    }

    /// Like [`Token::enter`]. Before a check unwinds, it calls `before` on this thread to prepare the code
    /// that it unwinds through.
    pub fn enter_with<T>(&self, before: Option<Box<dyn Fn()>>, work: impl FnOnce() -> T) -> T {
        let _restore = Restore(SCOPE.replace(Some(Scope { token: self.clone(), before })));
        work()
    }

    /// Runs `work` under this token; `None` if a check unwound.
    pub fn catch<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        match catch_unwind(AssertUnwindSafe(|| self.enter(work))) {
            Ok(done) => Some(done),
            Err(payload) if payload.is::<Cancelled>() => None,
            Err(payload) => resume_unwind(payload),
        }
    }
}

struct Scope {
    token: Token,
    before: Option<Box<dyn Fn()>>,
}

/// Restores the previous token of the thread. Scopes nest where one thread works for several computations in
/// turn.
struct Restore(Option<Scope>);

impl Drop for Restore {
    fn drop(&mut self) {
        SCOPE.set(self.0.take());
    }
}

/// Calls of [`tick`] per [`check`].
const TICKS: u32 = 256;

thread_local! {
    static SCOPE: RefCell<Option<Scope>> = const { RefCell::new(None) };
    static TICKS_LEFT: Cell<u32> = const { Cell::new(TICKS) };
}

/// Returns the token of this thread, to enter it on threads that work for the same computation.
pub fn current() -> Option<Token> {
    SCOPE.with_borrow(|scope| scope.as_ref().map(|scope| scope.token.clone()))
}

/// Unwinds if the computation on this thread is cancelled. Costs a few nanoseconds: call it for work of a
/// microsecond and more.
#[inline]
pub fn check() {
    let is_cancelled = SCOPE.with_borrow(|scope| match scope {
        None => false,
        Some(scope) => {
            if let Some(observer) = &scope.token.observer {
                observer();
            }
            scope.token.is_cancelled()
        }
    });
    if is_cancelled {
        throw();
    }
}

/// Calls [`check`] once in a few hundred calls, for innermost loops.
#[inline]
pub fn tick() {
    TICKS_LEFT.with(|left| match left.get() {
        0 => {
            left.set(TICKS);
            check();
        }
        n => left.set(n - 1),
    });
}

/// Whether the computation on this thread is cancelled, for work that ends without unwinding.
pub fn is_cancelled() -> bool {
    SCOPE.with_borrow(|scope| scope.as_ref().is_some_and(|scope| scope.token.is_cancelled()))
}

/// Unwinds without `panic!`, whose hook would print a message.
#[cold]
fn throw() {
    // A second unwinding, from a destructor, would abort the process.
    if std::thread::panicking() {
        return;
    }
    SCOPE.with_borrow(|scope| {
        if let Some(before) = scope.as_ref().and_then(|scope| scope.before.as_ref()) {
            before();
        }
    });
    resume_unwind(Box::new(Cancelled));
}

/// Runs both at once, `other` on a thread of its own under the token of this one. For long computations that ask no pool:
/// a thread that waits in a pool may be given other work.
pub fn both<T: Send>(one: impl FnOnce() -> T, other: impl Fn() -> T + Sync) -> [T; 2] {
    let token = current();
    let under_token = || match &token {
        Some(token) => token.enter(&other),
        None => other(),
    };
    std::thread::scope(|scope| {
        let second = std::thread::Builder::new().spawn_scoped(scope, under_token);
        let one = one();
        match second.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(other)) => [one, other],
            Ok(Err(payload)) => resume_unwind(payload),
            // The system has no more threads.
            Err(_) => [one, other()],
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_unwinds_to_the_token_that_was_cancelled() {
        let token = Token::default();
        assert_eq!(token.catch(|| (0..1000).for_each(|_| tick())), Some(()));
        token.cancel();
        assert_eq!(token.catch(check), None);
        assert_eq!(token.catch(|| (0..=TICKS).for_each(|_| tick())), None);
        // Nothing is cancelled outside the token.
        check();
        assert!(!is_cancelled() && current().is_none());
    }

    #[test]
    fn a_child_is_cancelled_with_its_parent_and_not_the_other_way_round() {
        let parent = Token::default();
        let (one, other) = (parent.child(), parent.child());
        one.cancel();
        assert!(one.is_cancelled() && !other.is_cancelled() && !parent.is_cancelled());
        parent.cancel();
        assert!(other.is_cancelled() && !other.is_cancelled_itself());
    }

    #[test]
    fn a_cancellation_ends_both() {
        let token = Token::default();
        assert_eq!(token.catch(|| both(|| 1, || 2)), Some([1, 2]));
        let endless = || -> u32 {
            loop {
                check();
            }
        };
        let cancels = || -> u32 {
            token.cancel();
            endless()
        };
        assert_eq!(token.catch(|| both(endless, cancels)), None);
    }

    #[test]
    fn scopes_nest() {
        let (outer, inner) = (Token::default(), Token::default());
        outer.enter(|| {
            inner.cancel();
            assert_eq!(inner.catch(check), None);
            check();
            assert_eq!(inner.catch(|| current().unwrap().is_cancelled()), Some(true));
        });
    }

    #[test]
    fn other_threads_are_cancelled_with_the_token_taken_along() {
        let token = Token::default();
        let ended = token.enter(|| {
            let token = current().unwrap();
            let thread = std::thread::spawn(move || {
                token.catch(|| {
                    loop {
                        tick();
                    }
                })
            });
            current().unwrap().cancel();
            thread.join().unwrap()
        });
        assert_eq!(ended, None);
    }

    #[test]
    fn a_destructor_that_checks_during_unwinding_does_not_end_the_process() {
        struct Checks;
        impl Drop for Checks {
            fn drop(&mut self) {
                check();
            }
        }
        let token = Token::default();
        token.cancel();
        let caught = token.catch(|| {
            let _checks = Checks;
            check();
        });
        assert_eq!(caught, None);
    }

    #[test]
    fn what_is_unwound_through_is_prepared_first() {
        let token = Token::default();
        token.cancel();
        let prepared = std::rc::Rc::new(Cell::new(false));
        let seen = prepared.clone();
        let before: Box<dyn Fn()> = Box::new(move || seen.set(true));
        assert!(catch_unwind(AssertUnwindSafe(|| token.enter_with(Some(before), check))).is_err());
        assert!(prepared.get());
    }
}
