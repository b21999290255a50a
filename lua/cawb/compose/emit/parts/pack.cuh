// Neighbours that one access takes.
template <class T, int N> struct alignas(sizeof(T) * N) pack { T at[N]; };
