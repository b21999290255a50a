/* report.h - a kernel's fault or race in words. */
#ifndef CAWB_SIM_WATCH_REPORT_H
#define CAWB_SIM_WATCH_REPORT_H

#include "sim/exec/exec.h"

cawb_status sim_fault_report(const sim_exec *x, cawb_err *err);
void        sim_race_report(const sim_exec *x, cawb_report *report);

#endif
