# strata_embed(target name FILES a.toml ...): puts the text of files into the library, so that a
# program needs no data folder beside it. Generates, and compiles into the target,
#   std::span<const strata::EmbeddedFile> strata::NAME()
# whose entries are in the order given, each with the file's name without folder and extension.
# The target's own code declares that function (EmbeddedFile is in sim/text/embedded.h).
#
# The file is also the script that the build runs, again whenever one of the files changes.

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  string(REPLACE "|" ";" files "${FILES}")
  set(entries "")
  foreach(file ${files})
    get_filename_component(stem ${file} NAME_WLE)
    file(READ ${file} text)
    string(FIND "${text}" ")strata_embed\"" collision)
    if(NOT collision EQUAL -1)
      message(FATAL_ERROR "${file}: holds the mark that ends an embedded text")
    endif()
    string(APPEND entries "    {\"${stem}\", R\"strata_embed(${text})strata_embed\"sv},\n")
  endforeach()
  file(WRITE ${OUTPUT} "#include <span>\n#include <string_view>\n\n#include \"sim/text/embedded.h\"\n\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\nnamespace strata {\n\n"
    "std::span<const EmbeddedFile> ${NAME}();\n\n"
    "using namespace std::string_view_literals;\n\n"
    "std::span<const EmbeddedFile> ${NAME}() {\n  static constexpr EmbeddedFile kFiles[] = {\n"
    "${entries}  };\n  return kFiles;\n}\n\n}  // namespace strata\n")
  return()
endif()

set(STRATA_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(strata_embed target name)
  cmake_parse_arguments(ARG "" "" "FILES" ${ARGN})
  set(files "")
  foreach(file ${ARG_FILES})
    get_filename_component(path ${file} ABSOLUTE)
    list(APPEND files ${path})
  endforeach()
  string(REPLACE ";" "|" joined "${files}")
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DOUTPUT=${output} -DFILES=${joined}
            -P ${STRATA_EMBED_SCRIPT}
    DEPENDS ${files} ${STRATA_EMBED_SCRIPT}
    COMMENT "Embedding ${name}" VERBATIM)
  target_sources(${target} PRIVATE ${output})
  add_custom_target(${target}_${name} DEPENDS ${output})
  add_dependencies(generated_sources ${target}_${name})
  add_dependencies(${target} ${target}_${name})
endfunction()
