//! Groups of devices.

use super::number_lists;

/// Devices of `replica_groups`, at most.
const MAX_DEVICES: i64 = 1 << 20;

/// `{{0,1},{2,3}}`, and `[2,2]<=[4]` or `[2,2]<=[2,2]T(1,0)` written out.
pub(super) fn groups(text: &str) -> Option<Vec<Vec<i64>>> {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('{') {
        let is_empty = inner.trim_end_matches('}').trim().is_empty() && !inner.contains('{');
        return number_lists(text).filter(|groups| groups.is_empty() == is_empty);
    }
    let numbers = |list: &str| list.split(',').map(|n| n.trim().parse().ok()).collect::<Option<Vec<i64>>>();
    let (tile, iota) = text.strip_prefix('[')?.split_once("]<=[")?;
    let (dims, order) = iota.split_once(']')?;
    let (tile, dims) = (numbers(tile)?, numbers(dims)?);
    let [_, size] = tile[..] else { return None };
    let count =
        dims.iter().try_fold(1i64, |n, &d| n.checked_mul(d)).filter(|&n| n > 0 && n <= MAX_DEVICES)?;
    let order = match order.trim().strip_prefix("T(").and_then(|o| o.strip_suffix(')')) {
        Some(order) => numbers(order)?,
        None => (0..dims.len() as i64).collect(),
    };
    let mut strides = vec![1i64; dims.len()];
    for d in (0..dims.len().saturating_sub(1)).rev() {
        strides[d] = strides[d + 1].checked_mul(dims[d + 1])?;
    }
    let turned: Vec<(i64, i64)> = order
        .iter()
        .map(|&d| usize::try_from(d).ok().and_then(|d| Some((*dims.get(d)?, *strides.get(d)?))))
        .collect::<Option<_>>()?;
    let device = |mut at: i64| {
        let mut device = 0;
        for &(extent, stride) in turned.iter().rev() {
            device += at % extent * stride;
            at /= extent;
        }
        device
    };
    let devices: Vec<i64> = (0..count).map(device).collect();
    let size = usize::try_from(size).ok().filter(|&n| n > 0)?;
    Some(devices.chunks(size).map(<[i64]>::to_vec).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_written_out() {
        assert_eq!(groups("{{0,1},{2}}"), Some(vec![vec![0, 1], vec![2]]));
        assert_eq!(groups("{}"), Some(Vec::new()));
        assert_eq!(groups("{{}}"), Some(vec![Vec::new()]));
        assert_eq!(groups("{0,1}"), None);
        assert_eq!(groups("[2,2]<=[4]"), Some(vec![vec![0, 1], vec![2, 3]]));
        assert_eq!(groups("[2,2]<=[2,2]T(1,0)"), Some(vec![vec![0, 2], vec![1, 3]]));
        assert_eq!(groups("[2,9223372036854775807]<=[9223372036854775807,9]"), None);
    }
}
