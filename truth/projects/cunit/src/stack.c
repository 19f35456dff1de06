#include "stack.h"

int stack_push(struct stack *stack, int item) {
    if (stack->used == STACK_MAX)
        return -1;
    stack->items[stack->used++] = item;
    return 0;
}

int stack_pop(struct stack *stack) {
    stack->used--;
    return stack->used < 0 ? 0 : stack->items[stack->used];
}
