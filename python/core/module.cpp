// The module strata._core: the library's functions for Python, whose types and objects are made of
// them in python/strata. Errors become exceptions of strata._errors.

#include <exception>
#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "python/core/documents.h"
#include "python/core/failures.h"
#include "python/core/questions.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/text/units.h"

namespace py = pybind11;

namespace strata::python {
namespace {

void raise(const char* name, const std::string& message) {
  const py::object type = py::module_::import("strata._errors").attr(name);
  PyErr_SetObject(type.ptr(), type(message).ptr());
}

// Classes that stand for others come behind those that they are.
void translate(std::exception_ptr thrown) {
  if (!thrown) return;
  try {
    std::rethrow_exception(thrown);
  } catch (const InputError& error) {
    raise("InputError", error.message());
  } catch (const EnvironmentError& error) {
    raise("EnvironmentError", error.message());
  } catch (const Infeasible& error) {
    raise("Infeasible", error.message());
  } catch (const InternalError& error) {
    raise("InternalError", error.message());
  } catch (const Error& error) {
    raise("RunFailed", error.message());
  } catch (const Cancelled&) {
    raise("Cancelled", "cancelled");
  } catch (const std::filesystem::filesystem_error& error) {
    raise("EnvironmentError", fmt::format("{}: cannot be looked at: {}", error.path1().string(),
                                          error.code().message()));
  }
}

// Calls a function of texts without the interpreter's lock.
template <class... Arguments>
auto released(std::string (*function)(Arguments...)) {
  return [function](Arguments... arguments) {
    const py::gil_scoped_release lock;
    return function(arguments...);
  };
}

}  // namespace
}  // namespace strata::python

PYBIND11_MODULE(_core, module) {
  using namespace strata::python;
  py::register_exception_translator(translate);
  module.attr("version") = STRATA_VERSION;

  py::class_<Caller>(module, "Caller")
      .def(py::init(
          [](std::string host, std::string date, std::string started, std::string command) {
            return Caller{std::move(host), std::move(date), std::move(started), std::move(command)};
          }));
  py::class_<Answered>(module, "Answer")
      .def("figure", &Answered::figure)
      .def("predictions", &Answered::predictions)
      .def("json", &Answered::json)
      .def("trace", &Answered::trace)
      .def("warnings", &Answered::warnings);
  module.def("ask", &ask);
  module.def("validate", &validate);
  module.def("sweep", &sweep);
  module.def("query", released(&query));
  module.def("replay", released(&replay));
  module.def("keys", &keys);

  module.def("show", released(&show));
  module.def("models", released(&models));
  module.def("clusters", released(&clusters));
  module.def("frameworks", released(&frameworks));
  module.def("cluster", released(&cluster));
  module.def("cluster_toml", released(&cluster_toml));
  module.def("chart", &chart);
  module.def("format_value", &format_value);
  module.def("plain_name", &strata::plain_name);
}
