#include "stack.h"
#include <assert.h>
#include <stdio.h>

int main(void) {
    struct stack stack = {0};
    assert(stack_push(&stack, 7) == 0);
    assert(stack_pop(&stack) == 7);
    assert(stack_pop(&stack) == 0);
    assert(stack_push(&stack, 8) == 0);
    assert(stack_pop(&stack) == 8);
    for (int at = 0; at < STACK_MAX; at++)
        assert(stack_push(&stack, at) == 0);
    assert(stack_push(&stack, 9) == -1);
    puts("unit: fine");
    return 0;
}
