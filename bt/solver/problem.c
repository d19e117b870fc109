/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/solver/problem.h"

#include <math.h>
#include <stddef.h>

#include "base/err.h"

/* Classes and published norms, [BT] sections 1 and 11. Digits as published. */
static const struct bt_reference references[] = {
    {'S',
     12,
     60,
     1.0e-2,
     {1.7034283709541311e-01, 1.2975252070034097e-02, 3.2527926989486055e-02,
      2.6436421275166801e-02, 1.9211784131744430e-01},
     {4.9976913345811579e-04, 4.5195666782961927e-05, 7.3973765172921357e-05,
      7.3821238632439731e-05, 8.9269630987491446e-04},
     {0.1149036328945e+02, 0.9156788904727e+00, 0.2857899428614e+01, 0.2598273346734e+01,
      0.2652795397547e+02},
     true},
    {'W',
     24,
     200,
     8.0e-4,
     {0.1125590409344e+03, 0.1180007595731e+02, 0.2710329767846e+02, 0.2469174937669e+02,
      0.2638427874317e+03},
     {0.4419655736008e+01, 0.4638531260002e+00, 0.1011551749967e+01, 0.9235878729944e+00,
      0.1018045837718e+02},
     {0.6729594398612e+02, 0.5264523081690e+01, 0.1677107142637e+02, 0.1508721463436e+02,
      0.1477018363393e+03},
     true},
    {'A',
     64,
     200,
     8.0e-4,
     {1.0806346714637264e+02, 1.1319730901220813e+01, 2.5974354511582465e+01,
      2.3665622544678910e+01, 2.5278963211748344e+02},
     {4.2348416040525025e+00, 4.4390282496995698e-01, 9.6692480136345650e-01,
      8.8302063039765474e-01, 9.7379901770829278e+00},
     {0.6482218724961e+02, 0.5066461714527e+01, 0.1613931961359e+02, 0.1452010201481e+02,
      0.1420099377681e+03},
     true},
    {'B',
     102,
     200,
     3.0e-4,
     {1.4233597229287254e+03, 9.9330522590150238e+01, 3.5646025644535285e+02,
      3.2485447959084092e+02, 3.2707541254659363e+03},
     {5.2969847140936856e+01, 4.4632896115670668e+00, 1.3122573342210174e+01,
      1.2006925323559144e+01, 1.2459576151035986e+02},
     {0.1477545106464e+03, 0.1108895555053e+02, 0.3698065590331e+02, 0.3310505581440e+02,
      0.3157928282563e+03},
     true},
    {'C',
     162,
     200,
     1.0e-4,
     {0.62398116551764615e+04, 0.50793239190423964e+03, 0.15423530093013596e+04,
      0.13302387929291190e+04, 0.11604087428436455e+05},
     {0.16462008369091265e+03, 0.11497107903824313e+02, 0.41207446207461508e+02,
      0.37087651059694167e+02, 0.36211053051841265e+03},
     {0.2597156483475e+03, 0.1985384289495e+02, 0.6517950485788e+02, 0.5757235541520e+02,
      0.5215668188726e+03},
     true},
    {'D',
     408,
     250,
     2.0e-5,
     {0.2533188551738e+05, 0.2346393716980e+04, 0.6294554366904e+04, 0.5352565376030e+04,
      0.3905864038618e+05},
     {0.3100009377557e+03, 0.2424086324913e+02, 0.7782212022645e+02, 0.6835623860116e+02,
      0.6065737200368e+03},
     {0.3813781566713e+03, 0.3160872966198e+02, 0.9593576357290e+02, 0.8363391989815e+02,
      0.7063466087423e+03},
     true},
    {'E',
     1020,
     250,
     4.0e-6,
     {0.9795372484517e+05, 0.9739814511521e+04, 0.2467606342965e+05, 0.2092419572860e+05,
      0.1392138856939e+06},
     {0.4327562208414e+03, 0.3699051964887e+02, 0.1089845040954e+03, 0.9462517622043e+02,
      0.7765512765309e+03},
     {0.4729898413058e+03, 0.4145899331704e+02, 0.1192850917138e+03, 0.1032746026932e+03,
      0.8270322177634e+03},
     true},
    {'F',
     2560,
     250,
     6.0e-7,
     {0.4240735175585e+06, 0.4348701133212e+05, 0.1078114688845e+06, 0.9142160938556e+05,
      0.5879842143431e+06},
     {0.5095577042351e+03, 0.4557065541652e+02, 0.1286632140581e+03, 0.1111419378722e+03,
      0.8720011709356e+03},
     {0.0, 0.0, 0.0, 0.0, 0.0},
     false},
};

enum { REFERENCES = sizeof references / sizeof references[0] };

const struct bt_reference *bt_reference_at(int i)
{
    return i < REFERENCES ? &references[i] : NULL;
}

int bt_problem_class(char cls, struct bt_problem *p)
{
    for (int c = 0; c < REFERENCES; c++) {
        const struct bt_reference *ref = &references[c];
        if (ref->cls != cls) continue;
        *p = (struct bt_problem){.cls = cls,
                                 .n = ref->n,
                                 .steps = ref->steps,
                                 .dt = ref->dt,
                                 .interval = cls == 'S' ? 10 : 5};
        return ERR_OK;
    }
    return err_set(ERR_USAGE, "--class '%c': no such class, the classes are S W A B C D E F", cls);
}

/* The published check is absolute, [BT] section 11; a small dt needs a relative one too. */
static bool same_dt(double published, double dt)
{
    const double distance = fabs(published - dt);
    return distance <= BT_TOLERANCE && distance <= BT_DT_RELATIVE * published;
}

const struct bt_reference *bt_reference_find(int64_t n, int64_t steps, double dt)
{
    for (int c = 0; c < REFERENCES; c++) {
        const struct bt_reference *ref = &references[c];
        if (ref->n == n && ref->steps == steps && same_dt(ref->dt, dt)) return ref;
    }
    return NULL;
}

double bt_reference_deviation(const double x[BT_NCOMP], const double ref[BT_NCOMP])
{
    double worst = 0.0;
    for (int m = 0; m < BT_NCOMP; m++) {
        double deviation = fabs(x[m] - ref[m]) / fabs(ref[m]);
        if (isnan(deviation)) return INFINITY;
        worst = fmax(worst, deviation);
    }
    return worst;
}

int64_t bt_problem_dumps(const struct bt_problem *p)
{
    int64_t regular = p->interval > 0 ? p->steps / p->interval : 0;
    bool extra = p->last && p->steps > 0 && !(p->interval > 0 && p->steps % p->interval == 0);
    return regular + (extra ? 1 : 0);
}

bool bt_problem_dump_due(const struct bt_problem *p, int64_t s)
{
    if (s < 1 || s > p->steps) return false;
    return (p->interval > 0 && s % p->interval == 0) || (p->last && s == p->steps);
}

double bt_problem_flop(const struct bt_problem *p)
{
    double n = (double)p->n;
    return (double)p->steps * (((3478.8 * n - 17655.7) * n + 28023.7) * n);
}
