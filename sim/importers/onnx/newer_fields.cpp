#include "sim/importers/onnx/newer_fields.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/unknown_field_set.h>

namespace strata {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::UnknownField;

std::vector<std::string> known_messages(const Message& message, const FieldDescriptor& field) {
  std::vector<std::string> found;
  if (!field.is_repeated() || field.type() != FieldDescriptor::TYPE_MESSAGE) return found;
  const auto& reflection = *message.GetReflection();
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i)
    found.push_back(reflection.GetRepeatedMessage(message, &field, i).SerializeAsString());
  return found;
}

std::vector<std::string> unknown_texts(const Message& message, int number) {
  std::vector<std::string> found;
  const auto& fields = message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& field = fields.field(i);
    if (field.number() == number && field.type() == UnknownField::TYPE_LENGTH_DELIMITED)
      found.push_back(field.length_delimited());
  }
  return found;
}

}  // namespace

std::vector<std::string> messages_in(const Message& message, int number) {
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByNumber(number);
  return field ? known_messages(message, *field) : unknown_texts(message, number);
}

std::string text_in(const Message& message, int number) {
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByNumber(number);
  if (field == nullptr) {
    const auto texts = unknown_texts(message, number);
    return texts.empty() ? "" : texts.back();
  }
  const bool is_text = !field->is_repeated() && field->type() == FieldDescriptor::TYPE_STRING;
  return is_text ? message.GetReflection()->GetString(message, field) : "";
}

}  // namespace strata
