#!/bin/sh
# Every case: arguments, then what is printed.
failed=0
expect() {
    want=$1
    shift
    got=$(build/join "$@")
    if [ "$got" != "$want" ]; then
        echo "FAIL: $* gives '$got', not '$want'"
        failed=$((failed + 1))
    fi
}
expect "a" , a
expect "a,b" , a b
expect "a - b - c" " - " a b c
while read -r sign words; do
    expect "$(echo "$words" | tr ' ' "$sign")" "$sign" $words
done <tests/cases.txt
echo "$failed failed"
[ "$failed" -eq 0 ]
