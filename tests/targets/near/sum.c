// Overflows on its third line, as another file of this name does.
int near_sum(int x) {
  return x + 1000;
}
