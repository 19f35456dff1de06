#define STACK_MAX 4

struct stack {
    int used;
    int items[STACK_MAX];
};

/* 0, or -1 where the stack is full. */
int stack_push(struct stack *stack, int item);
/* The item, or 0 where the stack is empty. */
int stack_pop(struct stack *stack);
