[(table) (body)] @fold
