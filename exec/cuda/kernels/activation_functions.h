#pragma once

// Activations by their definitions: value(x, slope), and gradient(dy, kept, slope), where `kept` is
// the output, or of silu, gelu, hard_swish, squared_relu and EluOfInput the input. In fp32.

#include <cmath>

#include "exec/cuda/device/launch.h"

namespace strata::cuda {

struct Relu {
  STRATA_ANYWHERE static float value(float x, float) { return x < 0 ? 0 : x; }
  STRATA_ANYWHERE static float gradient(float dy, float y, float) { return y > 0 ? dy : 0; }
};
struct Relu6 {
  STRATA_ANYWHERE static float value(float x, float) { return x < 0 ? 0 : x > 6 ? 6 : x; }
  STRATA_ANYWHERE static float gradient(float dy, float y, float) {
    return y > 0 && y < 6 ? dy : 0;
  }
};
struct LeakyRelu {
  STRATA_ANYWHERE static float value(float x, float slope) { return x > 0 ? x : x * slope; }
  STRATA_ANYWHERE static float gradient(float dy, float y, float slope) {
    return y > 0 ? dy : dy * slope;
  }
};
struct Elu {
  STRATA_ANYWHERE static float value(float x, float slope) {
    return x > 0 ? x : slope * std::expm1(x);
  }
  STRATA_ANYWHERE static float gradient(float dy, float y, float slope) {
    return y > 0 ? dy : dy * (y + slope);
  }
};
/// Where the gradient is given the input.
struct EluOfInput {
  STRATA_ANYWHERE static float value(float x, float slope) { return Elu::value(x, slope); }
  STRATA_ANYWHERE static float gradient(float dy, float x, float slope) {
    return x > 0 ? dy : dy * slope * std::exp(x);
  }
};
struct Sigmoid {
  STRATA_ANYWHERE static float value(float x, float) { return 1 / (1 + std::exp(-x)); }
  STRATA_ANYWHERE static float gradient(float dy, float y, float) { return dy * y * (1 - y); }
};
struct Tanh {
  STRATA_ANYWHERE static float value(float x, float) { return std::tanh(x); }
  STRATA_ANYWHERE static float gradient(float dy, float y, float) { return dy * (1 - y * y); }
};
struct Silu {
  STRATA_ANYWHERE static float value(float x, float) { return x * Sigmoid::value(x, 0); }
  STRATA_ANYWHERE static float gradient(float dy, float x, float) {
    const float s = Sigmoid::value(x, 0);
    return dy * s * (1 + x * (1 - s));
  }
};
struct Gelu {
  STRATA_ANYWHERE static float normal_share(float x) {
    return 0.5F + 0.5F * std::erf(x * 0.707106781F);
  }
  STRATA_ANYWHERE static float value(float x, float) { return x * normal_share(x); }
  STRATA_ANYWHERE static float gradient(float dy, float x, float) {
    return dy * (normal_share(x) + x * 0.398942280F * std::exp(-0.5F * x * x));
  }
};
struct HardSwish {
  STRATA_ANYWHERE static float value(float x, float) { return x * Relu6::value(x + 3, 0) / 6; }
  STRATA_ANYWHERE static float gradient(float dy, float x, float) {
    return x < -3 ? 0 : x > 3 ? dy : dy * (x / 3 + 0.5F);
  }
};

struct HardSigmoid {
  STRATA_ANYWHERE static float value(float x, float) { return Relu6::value(x + 3, 0) / 6; }
  STRATA_ANYWHERE static float gradient(float dy, float y, float) {
    return y > 0 && y < 1 ? dy / 6 : 0;
  }
};

struct SquaredRelu {
  STRATA_ANYWHERE static float value(float x, float) { return x < 0 ? 0 : x * x; }
  STRATA_ANYWHERE static float gradient(float dy, float x, float) { return x > 0 ? 2 * x * dy : 0; }
};
/// The slope is the cap.
struct Softcap {
  STRATA_ANYWHERE static float value(float x, float cap) { return cap * std::tanh(x / cap); }
  STRATA_ANYWHERE static float gradient(float dy, float y, float cap) {
    return Tanh::gradient(dy, y / cap, 0);
  }
};
/// The slope is the factor.
struct ScaleByConstant {
  STRATA_ANYWHERE static float value(float x, float factor) { return factor * x; }
  STRATA_ANYWHERE static float gradient(float dy, float, float factor) { return factor * dy; }
};

}  // namespace strata::cuda
