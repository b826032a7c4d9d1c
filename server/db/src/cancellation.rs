//! Queries on all cores that are cancelled together with whoever asked for them.

use salsa::Database as _;

use crate::Database;

/// Asks a query for each item. Each thread works on a clone of the database; they are gone when this returns. A
/// cancellation unwinds out of here.
pub(crate) fn for_each_in_parallel<T: Sync>(
    db: &Database,
    items: &[T],
    query: impl Fn(&Database, &T) + Sync + Send,
) {
    let token = cancel::current();
    parallel::for_each_with(items.len(), db.clone(), |db, n| match &token {
        None => query(db, &items[n]),
        // One item has unwound already, or the check below is going to.
        Some(token) if token.is_cancelled() => {}
        Some(token) => {
            let queries = db.cancellation_token();
            token.enter_with(Some(Box::new(move || queries.cancel())), || query(db, &items[n]));
        }
    });
    cancel::check();
}
