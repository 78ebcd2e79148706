// Student's t distribution, by the regularised incomplete beta function.
#pragma once

namespace epochd::abba {

/// I_x(a, b). Pre: a, b > 0, 0 <= x <= 1. Source: NIST DLMF 8.17.22, evaluated by Lentz's method.
double incomplete_beta(double a, double b, double x);

/// P(T <= t) with `degrees` of freedom. Pre: degrees > 0.
double student_t_cdf(double t, double degrees);

/// The t with P(T <= t) = p. Pre: 0 < p < 1.
double student_t_quantile(double p, double degrees);

}  // namespace epochd::abba
