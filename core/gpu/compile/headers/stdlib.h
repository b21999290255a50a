/* stdlib.h - for NVRTC: malloc and free are built in, and refused where kernels run. */
#pragma once
