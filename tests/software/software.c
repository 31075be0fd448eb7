/* Damps the rate of a spacecraft by a wrench on its base, and remembers how often it was asked. */
#include <math.h>

static double count, scale;

const char *software_contract(void) {
    return "freefloat software 1\n"
           "name damper\n"
           "period 0.03\n"
           "reads base.rate 3 rad/s\n"
           "reads base.attitude 4 1\n"
           "gives base.wrench 6 N, N m\n"
           "tells damper.count scalar:int32 1\n";
}

int software_begin(const double *y) {
    count = 0.0;
    scale = sqrt(1.0 + y[4] * y[4]);
    return 0;
}

int software_step(const double *y, double *commands) {
    const double *rate = y + 1, *attitude = y + 4;
    count += 1.0;
    for (int k = 0; k < 3; k++) {
        commands[k] = 0.0;
        commands[3 + k] = -300.0 * rate[k] / scale - exp(-y[0]) * sin(attitude[1 + k]);
    }
    commands[6] = count;
    return y[0] > 1e6;
}
