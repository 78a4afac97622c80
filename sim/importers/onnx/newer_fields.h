#pragma once

// Fields of ONNX's messages that are newer than its library here: what a message holds of them,
// whether the library knows them or not. Pure; thread-safe.

#include <string>
#include <vector>

#include <google/protobuf/message.h>

namespace strata {

/// The messages of a repeated field, each as its bytes.
std::vector<std::string> messages_in(const google::protobuf::Message& message, int field);

/// The text of a field; empty where it is not there.
std::string text_in(const google::protobuf::Message& message, int field);

}  // namespace strata
