# Whether a process whose command line matches $1 works below the tree.
for entry in /proc/[0-9]*; do
    here=$(readlink "$entry/cwd" 2>/dev/null) || continue
    case $here in "$TREE" | "$TREE"/*) ;; *) continue ;; esac
    if tr '\0' ' ' <"$entry/cmdline" 2>/dev/null | grep -Ev 'await-(check|once)|while :' | grep -Eq -- "$1"; then
        exit 0
    fi
done
exit 1
