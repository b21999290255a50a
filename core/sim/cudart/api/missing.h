/* missing.h - the names that programs may link with and that nothing stands behind. */
#define CAWB_CUDART_MISSING(X) \
  X(__cudaGetProcAddress) X(__cudaLaunchKernel_ptsz) X(__cudaRegisterHostVar) X(__cudaRegisterUnifiedTable) \
  X(cudaArrayGetInfo) X(cudaArrayGetMemoryRequirements) X(cudaArrayGetPlane) X(cudaArrayGetSparseProperties) \
  X(cudaCreateChannelDesc) X(cudaCreateSurfaceObject) X(cudaCreateTextureObject) X(cudaDestroyExternalMemory) \
  X(cudaDestroyExternalSemaphore) X(cudaDestroySurfaceObject) X(cudaDestroyTextureObject) \
  X(cudaDeviceDisablePeerAccess) X(cudaDeviceEnablePeerAccess) X(cudaDeviceFlushGPUDirectRDMAWrites) \
  X(cudaDeviceGetByPCIBusId) X(cudaDeviceGetCacheConfig) X(cudaDeviceGetGraphMemAttribute) \
  X(cudaDeviceGetHostAtomicCapabilities) X(cudaDeviceGetLimit) X(cudaDeviceGetNvSciSyncAttributes) \
  X(cudaDeviceGetP2PAtomicCapabilities) X(cudaDeviceGetP2PAttribute) X(cudaDeviceGetSharedMemConfig) \
  X(cudaDeviceGetTexture1DLinearMaxWidth) X(cudaDeviceGraphMemTrim) X(cudaDeviceRegisterAsyncNotification) \
  X(cudaDeviceSetGraphMemAttribute) X(cudaDeviceSetMemPool) X(cudaDeviceUnregisterAsyncNotification) \
  X(cudaEGLStreamConsumerAcquireFrame) X(cudaEGLStreamConsumerConnect) X(cudaEGLStreamConsumerConnectWithFlags) \
  X(cudaEGLStreamConsumerDisconnect) X(cudaEGLStreamConsumerReleaseFrame) X(cudaEGLStreamProducerConnect) \
  X(cudaEGLStreamProducerDisconnect) X(cudaEGLStreamProducerPresentFrame) X(cudaEGLStreamProducerReturnFrame) \
  X(cudaEventCreateFromEGLSync) X(cudaEventRecordWithFlags_ptsz) X(cudaEventRecord_ptsz) \
  X(cudaExternalMemoryGetMappedBuffer) X(cudaExternalMemoryGetMappedMipmappedArray) X(cudaFreeArray) \
  X(cudaFreeAsync_ptsz) X(cudaFreeMipmappedArray) X(cudaFuncGetParamInfo) X(cudaGLGetDevices) \
  X(cudaGLMapBufferObject) X(cudaGLMapBufferObjectAsync) X(cudaGLRegisterBufferObject) \
  X(cudaGLSetBufferObjectMapFlags) X(cudaGLSetGLDevice) X(cudaGLUnmapBufferObject) X(cudaGLUnmapBufferObjectAsync) \
  X(cudaGLUnregisterBufferObject) X(cudaGetChannelDesc) X(cudaGetDriverEntryPoint) \
  X(cudaGetDriverEntryPointByVersion) X(cudaGetDriverEntryPointByVersion_ptsz) X(cudaGetDriverEntryPoint_ptsz) \
  X(cudaGetExportTable) X(cudaGetFuncBySymbol) X(cudaGetKernel) X(cudaGetMipmappedArrayLevel) \
  X(cudaGetSurfaceObjectResourceDesc) X(cudaGetTextureObjectResourceDesc) X(cudaGetTextureObjectResourceViewDesc) \
  X(cudaGetTextureObjectTextureDesc) X(cudaGraphAddChildGraphNode) X(cudaGraphAddDependencies) \
  X(cudaGraphAddEmptyNode) X(cudaGraphAddEventRecordNode) X(cudaGraphAddEventWaitNode) \
  X(cudaGraphAddExternalSemaphoresSignalNode) X(cudaGraphAddExternalSemaphoresWaitNode) X(cudaGraphAddHostNode) \
  X(cudaGraphAddKernelNode) X(cudaGraphAddMemAllocNode) X(cudaGraphAddMemFreeNode) X(cudaGraphAddMemcpyNode) \
  X(cudaGraphAddMemcpyNode1D) X(cudaGraphAddMemcpyNodeFromSymbol) X(cudaGraphAddMemcpyNodeToSymbol) \
  X(cudaGraphAddMemsetNode) X(cudaGraphAddNode) X(cudaGraphChildGraphNodeGetGraph) X(cudaGraphClone) \
  X(cudaGraphConditionalHandleCreate) X(cudaGraphCreate) X(cudaGraphDebugDotPrint) X(cudaGraphDestroy) \
  X(cudaGraphDestroyNode) X(cudaGraphEventRecordNodeGetEvent) X(cudaGraphEventRecordNodeSetEvent) \
  X(cudaGraphEventWaitNodeGetEvent) X(cudaGraphEventWaitNodeSetEvent) X(cudaGraphExecChildGraphNodeSetParams) \
  X(cudaGraphExecDestroy) X(cudaGraphExecEventRecordNodeSetEvent) X(cudaGraphExecEventWaitNodeSetEvent) \
  X(cudaGraphExecExternalSemaphoresSignalNodeSetParams) X(cudaGraphExecExternalSemaphoresWaitNodeSetParams) \
  X(cudaGraphExecGetFlags) X(cudaGraphExecHostNodeSetParams) X(cudaGraphExecKernelNodeSetParams) \
  X(cudaGraphExecMemcpyNodeSetParams) X(cudaGraphExecMemcpyNodeSetParams1D) \
  X(cudaGraphExecMemcpyNodeSetParamsFromSymbol) X(cudaGraphExecMemcpyNodeSetParamsToSymbol) \
  X(cudaGraphExecMemsetNodeSetParams) X(cudaGraphExecNodeSetParams) X(cudaGraphExecUpdate) \
  X(cudaGraphExternalSemaphoresSignalNodeGetParams) X(cudaGraphExternalSemaphoresSignalNodeSetParams) \
  X(cudaGraphExternalSemaphoresWaitNodeGetParams) X(cudaGraphExternalSemaphoresWaitNodeSetParams) \
  X(cudaGraphGetEdges) X(cudaGraphGetNodes) X(cudaGraphGetRootNodes) X(cudaGraphHostNodeGetParams) \
  X(cudaGraphHostNodeSetParams) X(cudaGraphInstantiate) X(cudaGraphInstantiateWithFlags) \
  X(cudaGraphInstantiateWithParams) X(cudaGraphInstantiateWithParams_ptsz) X(cudaGraphKernelNodeCopyAttributes) \
  X(cudaGraphKernelNodeGetAttribute) X(cudaGraphKernelNodeGetParams) X(cudaGraphKernelNodeSetAttribute) \
  X(cudaGraphKernelNodeSetParams) X(cudaGraphLaunch) X(cudaGraphLaunch_ptsz) X(cudaGraphMemAllocNodeGetParams) \
  X(cudaGraphMemFreeNodeGetParams) X(cudaGraphMemcpyNodeGetParams) X(cudaGraphMemcpyNodeSetParams) \
  X(cudaGraphMemcpyNodeSetParams1D) X(cudaGraphMemcpyNodeSetParamsFromSymbol) \
  X(cudaGraphMemcpyNodeSetParamsToSymbol) X(cudaGraphMemsetNodeGetParams) X(cudaGraphMemsetNodeSetParams) \
  X(cudaGraphNodeFindInClone) X(cudaGraphNodeGetDependencies) X(cudaGraphNodeGetDependentNodes) \
  X(cudaGraphNodeGetEnabled) X(cudaGraphNodeGetType) X(cudaGraphNodeSetEnabled) X(cudaGraphNodeSetParams) \
  X(cudaGraphReleaseUserObject) X(cudaGraphRemoveDependencies) X(cudaGraphRetainUserObject) X(cudaGraphUpload) \
  X(cudaGraphUpload_ptsz) X(cudaGraphicsEGLRegisterImage) X(cudaGraphicsGLRegisterBuffer) \
  X(cudaGraphicsGLRegisterImage) X(cudaGraphicsMapResources) X(cudaGraphicsResourceGetMappedEglFrame) \
  X(cudaGraphicsResourceGetMappedMipmappedArray) X(cudaGraphicsResourceGetMappedPointer) \
  X(cudaGraphicsResourceSetMapFlags) X(cudaGraphicsSubResourceGetMappedArray) X(cudaGraphicsUnmapResources) \
  X(cudaGraphicsUnregisterResource) X(cudaGraphicsVDPAURegisterOutputSurface) \
  X(cudaGraphicsVDPAURegisterVideoSurface) X(cudaHostGetFlags) X(cudaImportExternalMemory) \
  X(cudaImportExternalSemaphore) X(cudaIpcCloseMemHandle) X(cudaIpcGetEventHandle) X(cudaIpcGetMemHandle) \
  X(cudaIpcOpenEventHandle) X(cudaIpcOpenMemHandle) X(cudaKernelSetAttributeForDevice) \
  X(cudaLaunchCooperativeKernelMultiDevice) X(cudaLaunchCooperativeKernel_ptsz) X(cudaLaunchHostFunc_ptsz) \
  X(cudaLaunchKernelExC_ptsz) X(cudaLaunchKernel_ptsz) X(cudaLibraryEnumerateKernels) X(cudaLibraryGetGlobal) \
  X(cudaLibraryGetKernel) X(cudaLibraryGetKernelCount) X(cudaLibraryGetManaged) X(cudaLibraryGetUnifiedFunction) \
  X(cudaLibraryLoadData) X(cudaLibraryLoadFromFile) X(cudaLibraryUnload) X(cudaLogsCurrent) X(cudaLogsDumpToFile) \
  X(cudaLogsDumpToMemory) X(cudaLogsRegisterCallback) X(cudaLogsUnregisterCallback) X(cudaMalloc3D) \
  X(cudaMalloc3DArray) X(cudaMallocArray) X(cudaMallocAsync_ptsz) X(cudaMallocFromPoolAsync_ptsz) \
  X(cudaMallocMipmappedArray) X(cudaMemDiscardAndPrefetchBatchAsync) X(cudaMemDiscardAndPrefetchBatchAsync_ptsz) \
  X(cudaMemDiscardBatchAsync) X(cudaMemDiscardBatchAsync_ptsz) X(cudaMemGetDefaultMemPool) X(cudaMemGetMemPool) \
  X(cudaMemPoolCreate) X(cudaMemPoolDestroy) X(cudaMemPoolExportPointer) X(cudaMemPoolExportToShareableHandle) \
  X(cudaMemPoolGetAccess) X(cudaMemPoolGetAttribute) X(cudaMemPoolImportFromShareableHandle) \
  X(cudaMemPoolImportPointer) X(cudaMemPoolSetAccess) X(cudaMemPoolTrimTo) X(cudaMemPrefetchAsync_ptsz) \
  X(cudaMemPrefetchBatchAsync) X(cudaMemPrefetchBatchAsync_ptsz) X(cudaMemRangeGetAttribute) \
  X(cudaMemRangeGetAttributes) X(cudaMemSetMemPool) X(cudaMemcpy2DArrayToArray) X(cudaMemcpy2DArrayToArray_ptds) \
  X(cudaMemcpy2DAsync_ptsz) X(cudaMemcpy2DFromArray) X(cudaMemcpy2DFromArrayAsync) \
  X(cudaMemcpy2DFromArrayAsync_ptsz) X(cudaMemcpy2DFromArray_ptds) X(cudaMemcpy2DToArray) \
  X(cudaMemcpy2DToArrayAsync) X(cudaMemcpy2DToArrayAsync_ptsz) X(cudaMemcpy2DToArray_ptds) X(cudaMemcpy2D_ptds) \
  X(cudaMemcpy3D) X(cudaMemcpy3DAsync) X(cudaMemcpy3DAsync_ptsz) X(cudaMemcpy3DBatchAsync) \
  X(cudaMemcpy3DBatchAsync_ptsz) X(cudaMemcpy3DPeer) X(cudaMemcpy3DPeerAsync) X(cudaMemcpy3DPeerAsync_ptsz) \
  X(cudaMemcpy3DPeer_ptds) X(cudaMemcpy3D_ptds) X(cudaMemcpyArrayToArray) X(cudaMemcpyArrayToArray_ptds) \
  X(cudaMemcpyAsync_ptsz) X(cudaMemcpyBatchAsync) X(cudaMemcpyBatchAsync_ptsz) X(cudaMemcpyFromArray) \
  X(cudaMemcpyFromArrayAsync) X(cudaMemcpyFromArrayAsync_ptsz) X(cudaMemcpyFromArray_ptds) \
  X(cudaMemcpyFromSymbolAsync_ptsz) X(cudaMemcpyFromSymbol_ptds) X(cudaMemcpyToArray) X(cudaMemcpyToArrayAsync) \
  X(cudaMemcpyToArrayAsync_ptsz) X(cudaMemcpyToArray_ptds) X(cudaMemcpyToSymbolAsync_ptsz) \
  X(cudaMemcpyToSymbol_ptds) X(cudaMemcpy_ptds) X(cudaMemset2DAsync_ptsz) X(cudaMemset2D_ptds) X(cudaMemset3D) \
  X(cudaMemset3DAsync) X(cudaMemset3DAsync_ptsz) X(cudaMemset3D_ptds) X(cudaMemsetAsync_ptsz) X(cudaMemset_ptds) \
  X(cudaMipmappedArrayGetMemoryRequirements) X(cudaMipmappedArrayGetSparseProperties) \
  X(cudaOccupancyAvailableDynamicSMemPerBlock) X(cudaOccupancyMaxActiveClusters) \
  X(cudaOccupancyMaxPotentialClusterSize) X(cudaSetValidDevices) X(cudaSignalExternalSemaphoresAsync) \
  X(cudaSignalExternalSemaphoresAsync_ptsz) X(cudaStreamAddCallback_ptsz) X(cudaStreamAttachMemAsync_ptsz) \
  X(cudaStreamBeginCapture) X(cudaStreamBeginCaptureToGraph) X(cudaStreamBeginCaptureToGraph_ptsz) \
  X(cudaStreamBeginCapture_ptsz) X(cudaStreamCopyAttributes) X(cudaStreamCopyAttributes_ptsz) \
  X(cudaStreamEndCapture) X(cudaStreamEndCapture_ptsz) X(cudaStreamGetAttribute) X(cudaStreamGetAttribute_ptsz) \
  X(cudaStreamGetCaptureInfo) X(cudaStreamGetCaptureInfo_ptsz) X(cudaStreamGetCaptureInfo_v2) \
  X(cudaStreamGetCaptureInfo_v3) X(cudaStreamGetDevice) X(cudaStreamGetDevice_ptsz) X(cudaStreamGetFlags) \
  X(cudaStreamGetFlags_ptsz) X(cudaStreamGetId) X(cudaStreamGetId_ptsz) X(cudaStreamGetPriority) \
  X(cudaStreamGetPriority_ptsz) X(cudaStreamIsCapturing_ptsz) X(cudaStreamQuery_ptsz) X(cudaStreamSetAttribute) \
  X(cudaStreamSetAttribute_ptsz) X(cudaStreamSynchronize_ptsz) X(cudaStreamUpdateCaptureDependencies) \
  X(cudaStreamUpdateCaptureDependencies_ptsz) X(cudaStreamWaitEvent_ptsz) X(cudaThreadExchangeStreamCaptureMode) \
  X(cudaUserObjectCreate) X(cudaUserObjectRelease) X(cudaUserObjectRetain) X(cudaVDPAUGetDevice) \
  X(cudaVDPAUSetVDPAUDevice) X(cudaWaitExternalSemaphoresAsync) X(cudaWaitExternalSemaphoresAsync_ptsz)
