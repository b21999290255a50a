// Both factors, the left one by the first blocks.
extern "C" __global__ void __launch_bounds__(256)
$NAME($PARAMETERS, unsigned char *__restrict__ a, float *__restrict__ a_scales, int *a_wide, unsigned char *__restrict__ b,
      float *__restrict__ b_scales, int *b_wide$MORE) {
  __shared__ float tile[64][65];
$if UNLESS
  if ($UNLESS) return;
$end
  if (blockIdx.x < $LEFTBLOCKS) $LEFT_pack($LEFTPASS, a, a_scales, a_wide, b_wide, tile, blockIdx.x, $LEFTBLOCKS);
  else $RIGHT_pack($PASS, b, b_scales, b_wide, a_wide, tile, blockIdx.x - $LEFTBLOCKS, $RIGHTBLOCKS);
}
