// 256-bit numbers between the ledger's limbs, hex as standards print it, and Boost's integers,
// which are the oracle.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <string>

#include "bench/workloads/ledger/u256.h"

namespace epochd::bench {

using Big = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>,
                                          boost::multiprecision::et_off>;

inline Big big(const std::string& hex) {
  return Big("0x" + hex);
}

inline Big to_big(const U256& a) {
  Big value = 0;
  for (int i = 3; i >= 0; --i) value = (value << 64) | a.limb[i];
  return value;
}

inline U256 to_u256(const Big& value) {
  U256 a;
  for (int i = 0; i < 4; ++i) {
    a.limb[i] = static_cast<uint64_t>((value >> (64 * i)) & 0xffffffffffffffffu);
  }
  return a;
}

inline Big modulo(const Big& a, const Big& m) {
  const Big r = a % m;
  return r < 0 ? Big(r + m) : r;
}

}  // namespace epochd::bench
