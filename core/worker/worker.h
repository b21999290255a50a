/*
** worker.h - the disposable process that owns a device and executes candidates.
** It is told what to run and on which memory, and knows no expected value.
**
** Requests (fields; shares are {"size":n} with "fd", an index into the message's
** descriptors, or "ipc", 128 hex digits):
**   open     {device}                                   -> {device:{...}}
**   tunables {plan, inputs, outputs, params, limits}    -> {tunables:[...]}
**   load     {ptx, cubin: paths; plan, tunables, inputs, outputs, params,
**             params_share, limits}                     -> {steps:[...], scratch}
**   run      {inputs_share, outputs_share, poison}      -> {report:{...}}
**   time     the same and {warmup, samples, budget}     -> {samples:[seconds]}
**   profile  as run, and {metrics:[names], packages: folders} -> {profile:
**             {kernels:[{kernel, metrics:{name:value}, sources:{name:source}}],
**             passes, setup, seconds, note}}
**   All start every call from poisoned outputs and scratch and from prepare, and
**   copy outputs and inputs back, so that the judge sees what was written to; with
**   params_share, the parameters too.
**   unload   {}
** A failure of the candidate has the name "candidate"; "lost":true says that the
** device is gone with it and that this process should be replaced.
*/
#ifndef CAWB_WORKER_WORKER_H
#define CAWB_WORKER_WORKER_H

/* Serve on the descriptor `fd` until it is closed. Returns the exit status. */
int cawb_worker_main(int fd);

#endif
