$if FIRST
  if ($PLAIN) {
    if (threadIdx.x < 256) $NAME_plain($PASS$PASSPARTLY, (float (*)[68])stages, (float (*)[68])stages + 16);
    return;
  }
$end
$if WIDELY
  if ($WIDELY) {
    $NAME_wide<$THREADS>($PASS, a_scales, b_scales$PASSPARTLY, stages);
    return;
  }
$end
$if CHECK
  if ($VAST) {                                                               // three parts of bfloat16 will do it
    if (blockIdx.x == 0 && threadIdx.x == 0) *many = $AGAIN/**/ + 1;
    return;
  }
  const bool is_checked = $WIDE;
$else
  if ($OTHER) return;                                                        // another kernel of the plan does it
$end
