#include "exec/cuda/products/cudnn_operation.h"

#include <algorithm>
#include <utility>

namespace strata::cuda {
namespace {

/// How the library calls a direction, and what belongs to it.
struct Words {
  cudnnBackendDescriptorType_t kind;
  cudnnBackendAttributeName_t convolution, input, filter, output, alpha, beta;
};

Words words_of(Direction direction) {
  if (direction == Direction::forward) {
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
  }
  if (direction == Direction::data) {
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
  }
  return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
}

using Sizes = std::vector<std::int64_t>;

/// The library's dims n c [d] h w, lying n [d] h w c.
Descriptor tensor(const Cudnn& cudnn, std::int64_t name, Type type, const Sizes& sizes) {
  Sizes strides(sizes.size());
  std::int64_t step = sizes[1];
  strides[1] = 1;
  for (std::size_t i = sizes.size() - 1; i >= 2; --i) strides[i] = step, step *= sizes[i];
  strides[0] = step;
  Descriptor it(cudnn, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const auto data_type = type == Type::fp32 ? CUDNN_DATA_FLOAT : CUDNN_DATA_BFLOAT16;
  it.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, name);
  it.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, data_type);
  it.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, std::int64_t{16});
  it.set(CUDNN_ATTR_TENSOR_DIMENSIONS, sizes);
  it.set(CUDNN_ATTR_TENSOR_STRIDES, strides);
  it.finalise("describing a tensor");
  return it;
}

Descriptor input_tensor(const Cudnn& cudnn, const ConvolutionShape& shape, Type type) {
  Sizes sizes{shape.samples, shape.in_channels};
  for (const ConvolutionAxis& axis : shape.axes) sizes.push_back(axis.input);
  return tensor(cudnn, kTensorNames[0], type, sizes);
}

Descriptor filter_tensor(const Cudnn& cudnn, const ConvolutionShape& shape, Type type) {
  Sizes sizes{shape.out_channels, shape.groups.inputs};
  for (const ConvolutionAxis& axis : shape.axes) sizes.push_back(axis.kernel);
  return tensor(cudnn, kTensorNames[1], type, sizes);
}

Descriptor output_tensor(const Cudnn& cudnn, const ConvolutionShape& shape, Type type) {
  Sizes sizes{shape.samples, shape.out_channels};
  for (const ConvolutionAxis& axis : shape.axes) sizes.push_back(axis.output);
  return tensor(cudnn, kTensorNames[2], type, sizes);
}

// The library leaves elements that no window reaches behind the last one: no padding says so.
Descriptor convolution(const Cudnn& cudnn, const ConvolutionShape& shape) {
  Sizes before, after, strides, dilations;
  for (const ConvolutionAxis& axis : shape.axes) {
    before.push_back(axis.pad_begin);
    after.push_back(std::max<std::int64_t>(0, axis.pad_end));
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation);
  }
  Descriptor it(cudnn, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  it.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64,
         static_cast<std::int64_t>(shape.axes.size()));
  it.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  it.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION);
  it.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, before);
  it.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, after);
  it.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, strides);
  it.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, dilations);
  it.finalise("describing a convolution");
  return it;
}

}  // namespace

std::vector<Descriptor> convolution_operation(const Cudnn& cudnn, const ConvolutionShape& shape,
                                              Direction direction, Type type) {
  const Words words = words_of(direction);
  Descriptor operation(cudnn, words.kind);
  std::vector<Descriptor> parts;
  const auto set = [&](cudnnBackendAttributeName_t name, Descriptor value) {
    operation.set(name, value);
    parts.push_back(std::move(value));
  };
  set(words.convolution, convolution(cudnn, shape));
  set(words.input, input_tensor(cudnn, shape, type));
  set(words.filter, filter_tensor(cudnn, shape, type));
  set(words.output, output_tensor(cudnn, shape, type));
  // Of the type that the convolution computes in, whatever type they are said to be of: of a double
  // that is 1, cuDNN 9.19 takes the first four bytes, which are 0.
  operation.set(words.alpha, CUDNN_TYPE_FLOAT, 1.0F);
  operation.set(words.beta, CUDNN_TYPE_FLOAT, 0.0F);
  operation.finalise("describing an operation");
  parts.push_back(std::move(operation));
  return parts;
}

}  // namespace strata::cuda
