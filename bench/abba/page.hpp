// A page's plots and text: SVG and HTML without references, so that it can be mailed as one file.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace epochd::abba {

/// Colours for light and dark, type, tables; classes a and b for the two sides.
extern const char* const kPageStyle;

std::string escape_html(const std::string& text);

/// printf into a string, at most 511 bytes.
template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

/// A drawing of kWidth x kHeight with room for its axes.
inline constexpr double kWidth = 760;
inline constexpr double kHeight = 260;
inline constexpr double kLeft = 64;
inline constexpr double kRight = 16;
inline constexpr double kTop = 16;
inline constexpr double kBottom = 44;

/// Maps data to the drawing, with a little air on both ends.
struct Scale {
  double low, high, from, to;

  Scale(double first, double last, double from_pixel, double to_pixel);
  double operator()(double value) const {
    return from + (value - low) / (high - low) * (to - from);
  }
};
/// The drawing's own two.
inline Scale x_scale(double low, double high) {
  return {low, high, kLeft, kWidth - kRight};
}
inline Scale y_scale(double low, double high) {
  return {low, high, kHeight - kBottom, kTop};
}

/// Numbers of 1, 2 or 5 times a power of ten that divide the range in about `count`.
std::vector<double> ticks(const Scale& scale, int count);

std::string svg_start();
/// Lines and labels at the ticks; `pattern` prints one.
std::string y_axis(const Scale& y, const char* pattern);
std::string x_labels(const std::vector<double>& at, const Scale& x, const char* pattern);
/// The end, with a caption under the x axis.
std::string svg_end(const std::string& below);

}  // namespace epochd::abba
