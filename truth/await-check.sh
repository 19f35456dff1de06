# Waits until a process whose command line matches $1 works below the tree, as a process that an
# agent left behind could do.
until await-once "$1"; do
    sleep 0.02
done
