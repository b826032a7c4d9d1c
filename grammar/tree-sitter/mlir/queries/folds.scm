(region) @fold
