int clampit(int value, int low, int high);
int span(int low, int high);
