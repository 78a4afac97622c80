# Run by CPack when all is installed into folders, one a component, and before they are packed: what
# Debian's policy asks for. The licence stands in `copyright`, manual pages are compressed, and an
# archive keeps only the symbols that a link needs.
find_program(GZIP gzip REQUIRED)
find_program(STRIP strip REQUIRED)

function(compress)
  foreach(file ${ARGN})
    execute_process(COMMAND ${GZIP} -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endfunction()

foreach(component ${CPACK_COMPONENTS_ALL})
  set(usr ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr)
  set(doc ${usr}/share/doc/${component})
  file(REMOVE ${doc}/LICENSE)
  file(COPY ${CPACK_STRATA_DEBIAN_FILES}/copyright ${CPACK_STRATA_DEBIAN_FILES}/changelog
    DESTINATION ${doc} FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  file(GLOB pages ${usr}/share/man/man1/*.1)
  compress(${doc}/changelog ${pages})
  file(GLOB archives ${usr}/lib/*.a ${usr}/lib/*/*.a)
  foreach(archive ${archives})
    execute_process(COMMAND ${STRIP} --strip-debug --enable-deterministic-archives
      --remove-section=.comment --remove-section=.note ${archive} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endforeach()
