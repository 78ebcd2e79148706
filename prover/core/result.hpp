// Result<T, E>: a value or a typed error, for everything that comes from outside (proofs, files,
// configuration). Named after std::expected, which C++20 lacks, so that it can be replaced by it.
#pragma once

#include <utility>
#include <variant>

#include "prover/core/assert.hpp"

namespace epochd {

template <class E>
struct Unexpected {
  E error;
};
template <class E>
Unexpected(E) -> Unexpected<E>;

template <class T, class E>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}            // NOLINT
  Result(Unexpected<E> e) : state_(std::in_place_index<1>, std::move(e.error)) {}  // NOLINT

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() & { return checked(), std::get<0>(state_); }
  const T& value() const& { return checked(), std::get<0>(state_); }
  T&& value() && { return checked(), std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const E& error() const {
    EPOCHD_ASSERT(!has_value());
    return std::get<1>(state_);
  }

 private:
  void checked() const { EPOCHD_ASSERT(has_value()); }
  std::variant<T, E> state_;
};

}  // namespace epochd
