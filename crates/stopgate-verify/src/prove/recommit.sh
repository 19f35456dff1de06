# What an original run does to its own repository before the check begins: see recommit.rs.

own() { git -c core.hooksPath=/dev/null -c core.fsmonitor=false "$@"; }

# A setting says what it said, whatever other file says otherwise; a worktree's own come last.
set_to() {
    git config --local --replace-all "$1" "$2"
    [ "$(git config --get "$1")" = "$2" ] || git config --worktree --replace-all "$1" "$2"
    [ "$(git config --get "$1")" = "$2" ]
}
unset_all() {
    git config --local --unset-all "$1"
    git config --worktree --unset-all "$1"
    ! git config --get "$1"
}

# Moves names, all that are given at once. Where one is checked out, the work stays where it is.
move_names() {
    branch=$(own symbolic-ref -q HEAD)
    case $1 in
    *" $branch"[[:space:]]*) own update-ref --no-deref HEAD "$(own rev-parse HEAD)" || return 1 ;;
    esac
    printf %s "$1" | own update-ref --no-deref --stdin
}

# Has git look at files again.
look_at() {
    printf %s "$1" | own update-index --no-skip-worktree --stdin &&
        printf %s "$1" | own update-index --no-assume-unchanged --stdin
}

# Puts files into an index as they are in the tree, and those behind `:` as they were at the start.
stage() {
    name=$1
    shift
    while [ "$1" != : ]; do
        if [ ! -e "$1" ] && [ ! -L "$1" ]; then
            own update-index --force-remove -- "$1" || return 1
        elif own cat-file -e "$name:$1" 2>/dev/null || own cat-file -e "$base:$1" 2>/dev/null; then
            own update-index --add -- "$1" || return 1
        fi
        shift
    done
    shift
    while [ "$1" != . ]; do
        was=$(own ls-tree "$base" -- "$1") || return 1
        known=${was%%"$(printf '\t')"*}
        if [ "$known" ]; then
            own update-index --add --cacheinfo "${known%% *}" "${known##* }" "$1" || return 1
        fi
        shift
    done
}

# Commits them upon what the name leads to.
record() (
    name=$1
    own rev-parse -q --verify "$name^{commit}" || exit 0
    GIT_INDEX_FILE=$(own rev-parse --git-path index).stopgate || exit 1
    export GIT_INDEX_FILE
    own read-tree "$name" || exit 1
    stage "$@" || exit 1
    tree=$(own write-tree) || exit 1
    rm -f -- "$GIT_INDEX_FILE"
    [ "$tree" = "$(own rev-parse "$name^{tree}")" ] && exit 0
    when=$(own log -1 --format=%cI "$name") || exit 1
    export GIT_AUTHOR_NAME=stopgate GIT_AUTHOR_EMAIL=stopgate@localhost GIT_AUTHOR_DATE="$when"
    export GIT_COMMITTER_NAME=stopgate GIT_COMMITTER_EMAIL=stopgate@localhost
    export GIT_COMMITTER_DATE="$when"
    says='the judges of the start'
    commit=$(own commit-tree "$tree" -p "$name^{commit}" -m "$says") || exit 1
    if [ "$(own cat-file -t "$name")" = tag ]; then
        own -c tag.gpgSign=false tag -f -a -m "$says" "${name#refs/tags/}" "$commit"
    else
        own update-ref "$name" "$commit"
    fi
)

prepare() (
    cd -- "$1" || exit 1
    base=$2
    shift 2
    names=HEAD
    dropped=
    moved=
    unseen=
    stale=
    line='
'
    while [ "$1" != judges ]; do
        kind=$1
        what=${2#=}
        value=${3#=}
        shift 2
        case $kind in
        set) set_to "$what" "$value" && stale=1 && shift ;;
        unset) unset_all "$what" && stale=1 ;;
        write) printf %s "$value" >".git/$what" && stale=1 && shift ;;
        remove) rm -f -- ".git/$what" && stale=1 ;;
        drop) dropped="${dropped}delete $what$line" ;;
        refer) moved="${moved}update $what $value$line" && shift ;;
        see) unseen="$unseen$what$line" && stale=1 ;;
        name) names="$names $what" ;;
        *) false ;;
        esac || exit 1
    done
    shift
    # A name that is gone makes room for one below it.
    [ -z "$dropped" ] || move_names "$dropped" || exit 1
    [ -z "$moved" ] || move_names "$moved" || exit 1
    [ -z "$unseen" ] || look_at "$unseen" || exit 1
    if own rev-parse -q --verify HEAD >/dev/null; then
        stage HEAD "$@" || exit 1
        for name in $names; do record "$name" "$@" || exit 1; done
    fi
    # Git believes times of files that it noted while the rest was otherwise, unless its index is
    # older than they are.
    index=$(own rev-parse --git-path index) || exit 1
    [ -z "$stale" ] || [ ! -e "$index" ] || touch -t 197001020000 -- "$index"
)

prepare "$@" >/dev/null || { echo 'stopgate: could not give the check the git of the start' >&2; exit 125; }
while [ "$1" != . ]; do shift; done
shift
exec "$@"
