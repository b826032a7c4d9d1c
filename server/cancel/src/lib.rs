//! Cooperative cancellation of computations that know nothing of who asked for them.
//!
//! Whoever runs a computation [enters](Token::enter) a token on its thread. Loops that may take long call [`check`] or
//! [`tick`]; once the token is cancelled the next of these calls unwinds, with [`Cancelled`] as its payload, to the place
//! that entered it. Without a token both do nothing, so the same code serves tests and the command line.
//!
//! Work on other threads needs the token there, too: take [`current`] along and enter it on each.
//!
//! Architecture Invariant: at most a few milliseconds of work lie between two checks. The tests of `ide` measure it.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The payload of the unwinding that a cancellation starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// A flag that stops the computations under it. Clones are the same flag; a [child](Token::child) is also cancelled with
/// its parent.
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

    /// A token that takes the place of this one.
    pub fn renewed(&self) -> Token {
        Token { is_cancelled: Arc::default(), ..self.clone() }
    }

    /// The same flag, which is then not cancelled with its parent.
    pub fn without_parent(&self) -> Token {
        Token { parent: None, ..self.clone() }
    }

    /// A token that calls `observer` at each check: for tests of how far apart checks are.
    pub fn observed(observer: impl Fn() + Send + Sync + 'static) -> Token {
        Token { observer: Some(Arc::new(observer)), ..Token::default() }
    }

    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Release);
    }

    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled_itself() || self.parent.as_ref().is_some_and(|parent| parent.is_cancelled())
    }

    /// Whether this token was cancelled, not its parent.
    pub fn is_cancelled_itself(&self) -> bool {
        self.is_cancelled.load(Ordering::Acquire)
    }

    /// Runs `work` under this token. A cancellation unwinds out of it; see [`Token::catch`].
    pub fn enter<T>(&self, work: impl FnOnce() -> T) -> T {
        self.enter_with(None, work)
    }

    /// As [`Token::enter`]; `before` is called on this thread before a check unwinds, to prepare what it unwinds through.
    pub fn enter_with<T>(&self, before: Option<Box<dyn Fn()>>, work: impl FnOnce() -> T) -> T {
        let _restore = Restore(SCOPE.replace(Some(Scope { token: self.clone(), before })));
        work()
    }

    /// Runs `work` under this token, `None` where a check unwound.
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

/// Puts back the token that was entered before. Scopes nest where one thread works for several computations in turn.
struct Restore(Option<Scope>);

impl Drop for Restore {
    fn drop(&mut self) {
        SCOPE.set(self.0.take());
    }
}

/// Calls of [`tick`] for one check.
const TICKS: u32 = 256;

thread_local! {
    static SCOPE: RefCell<Option<Scope>> = const { RefCell::new(None) };
    static TICKS_LEFT: Cell<u32> = const { Cell::new(TICKS) };
}

/// The token of this thread, for threads that work for the same computation.
pub fn current() -> Option<Token> {
    SCOPE.with_borrow(|scope| scope.as_ref().map(|scope| scope.token.clone()))
}

/// Unwinds if the computation on this thread is cancelled. A few nanoseconds: for work of a microsecond and more.
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

/// A [`check`] every so many calls: for the innermost loops.
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

/// Whether the computation on this thread is cancelled, for work that ends in its own way.
pub fn is_cancelled() -> bool {
    SCOPE.with_borrow(|scope| scope.as_ref().is_some_and(|scope| scope.token.is_cancelled()))
}

/// Not `panic!`: its hook would print a message.
#[cold]
fn throw() {
    // A second unwinding from a destructor would end the process.
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
        // Outside nothing is cancelled.
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
