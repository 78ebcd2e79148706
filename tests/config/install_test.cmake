# `cmake --install` puts everything where the unit looks for it, and leaves settings alone that are
# there: cmake -DBUILD=DIR -DSYSCONF=DIR -DPREFIX=DIR -P install_test.cmake
set(STAGE ${BUILD}/install-test)
file(REMOVE_RECURSE ${STAGE})
set(ENV{DESTDIR} ${STAGE})

function(install_all)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD}
    RESULT_VARIABLE RESULT OUTPUT_VARIABLE OUTPUT ERROR_VARIABLE OUTPUT)
  if(NOT RESULT EQUAL 0)
    message(FATAL_ERROR "the installation failed:\n${OUTPUT}")
  endif()
endfunction()

install_all()
foreach(FILE bin/epochd bin/epoch lib/systemd/system/epochd.service lib/sysusers.d/epochd.conf
        lib/tmpfiles.d/epochd.conf share/doc/epochd/operations.md)
  if(NOT EXISTS ${STAGE}${PREFIX}/${FILE})
    message(FATAL_ERROR "${FILE} is not installed")
  endif()
endforeach()
if(NOT EXISTS ${STAGE}${SYSCONF}/epochd/epochd.yaml)
  message(FATAL_ERROR "the settings are not installed")
endif()

execute_process(COMMAND ${STAGE}${PREFIX}/bin/epoch check-config
                        ${STAGE}${SYSCONF}/epochd/epochd.yaml RESULT_VARIABLE RESULT)
if(NOT RESULT EQUAL 0)
  message(FATAL_ERROR "the installed program refuses the installed settings")
endif()

file(WRITE ${STAGE}${SYSCONF}/epochd/epochd.yaml "threads: 7\n")
install_all()
file(READ ${STAGE}${SYSCONF}/epochd/epochd.yaml SETTINGS)
if(NOT SETTINGS STREQUAL "threads: 7\n")
  message(FATAL_ERROR "the administrator's settings were overwritten")
endif()
file(REMOVE_RECURSE ${STAGE})
