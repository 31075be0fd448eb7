/* On-board software in C: three functions. `serve.c` puts them behind a socket, a shared library takes them in process.

   Measurements are a row of doubles: time [s], all values in the order of the contract, when each measurement was
   taken [s], whether each is valid (1 or 0). Commands are a row of doubles in the order of the contract. */
#ifndef FREEFLOAT_SOFTWARE_H
#define FREEFLOAT_SOFTWARE_H

const char *software_contract(void);
int software_begin(const double *measurements);
int software_step(const double *measurements, double *commands);

#endif
