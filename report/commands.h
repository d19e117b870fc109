/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPORT_COMMANDS_H
#define REPORT_COMMANDS_H
/* Serial. What nht1-report can be asked for. argv[0] is the program or the command. They return 0
 * or a negative cause with a message; the main program turns it into an exit status. Local. */

/* nht1-report RESULT...: the report. */
int report_main(int argc, char **argv);

/* nht1-report compare A B. ERR_VERIFY: B is worse; ERR_USAGE: not comparable, or a wrong option. */
int compare_main(int argc, char **argv);

/* nht1-report stats NUMBER... */
int stats_main(int argc, char **argv);

#endif
