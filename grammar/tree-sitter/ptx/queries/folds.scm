[(block) (section)] @fold
