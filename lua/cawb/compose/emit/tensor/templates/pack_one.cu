extern "C" __global__ void __launch_bounds__(256)
$NAME($PARAMETERS, unsigned char *__restrict__ out$OUTS$MORE) {
  __shared__ float tile[64][65];
$if UNLESS
  if ($UNLESS) return;
$end
  $NAME_pack($PASS, out$PASSOUTS, tile, blockIdx.x, $BLOCKS);
}
