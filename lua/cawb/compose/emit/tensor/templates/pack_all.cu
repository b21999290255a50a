extern "C" __global__ void __launch_bounds__(256)
$NAME($PARAMETERS$OUTS$MORE) {
  __shared__ float tile[64][65];
$if UNLESS:   if ($UNLESS) return;
  $CALLS
}
