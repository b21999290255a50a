$if FINISH
        float *to = partial + (((size_t)tile.z * $SPLITS/**/ + tile.part) * $M/**/ + row) * $N/**/ + column;
$if EVEN
        if (column < $N/**/) *(float2 *)to = make_float2(first, second);
$else
        if (column < $N/**/) to[0] = first;
        if (column + 1 < $N/**/) to[1] = second;
$end
$else
$STORE
$end
